import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'

/** A person who is signed in at the identity provider. */
export type OidcPerson = { readonly sub: string } & Readonly<Record<string, unknown>>

/** How the provider deviates from the standard. */
export type OidcFault =
  | 'wrong nonce'
  | 'no nonce'
  | 'wrong audience'
  | 'expired'
  | 'issued tomorrow'
  | 'other issuer'
  | 'other key'
  | 'unsigned'
  | 'wrong state'
  | 'code used before'
  | 'access denied'
  | 'other subject in user info'

export type OidcProvider = AsyncDisposable & {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The next person who signs in. */
  person: OidcPerson
  /** Claims that only the user info endpoint sends. */
  userInfo: Readonly<Record<string, unknown>>
  fault: OidcFault | undefined
  /** Whether a code works more than once, which the standard forbids. */
  isCodeReusable: boolean
  /** The requests to the authorization endpoint. */
  readonly authorizations: URLSearchParams[]
}

type Grant = { readonly request: URLSearchParams; readonly person: OidcPerson }

/** A small OpenID provider on a free port of this machine, which signs everybody in without asking. */
export async function startOidcProvider(): Promise<OidcProvider> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const stranger = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, OidcPerson>()
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = {
    issuer,
    clientId: 'gatehouse-console',
    clientSecret: 'a client secret of the test',
    person: { sub: 'person-1' } as OidcPerson,
    userInfo: {},
    fault: undefined as OidcFault | undefined,
    isCodeReusable: false,
    authorizations: [] as URLSearchParams[],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return provider

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    const endpoints: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => metadata(),
      '/jwks': () => ({ keys: [jwk] }),
      '/token': async () => token(request, new URLSearchParams(await text(request))),
      '/userinfo': () => userInfoOf(request),
    }
    if (url.pathname === '/authorize') {
      response.writeHead(302, { location: authorize(url.searchParams) }).end()
      return
    }
    try {
      const body = await endpoints[url.pathname]?.()
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: String(error) }))
    }
  }

  function metadata() {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    }
  }

  /** Returns where the browser goes next. */
  function authorize(request: URLSearchParams): string {
    provider.authorizations.push(request)
    const back = new URL(request.get('redirect_uri') ?? '')
    const isComplete =
      request.get('client_id') === provider.clientId &&
      request.get('code_challenge_method') === 'S256' &&
      ['code_challenge', 'state', 'nonce'].every((name) => (request.get(name) ?? '').length >= 32)
    const code = randomUUID()
    if (!isComplete) back.searchParams.set('error', 'invalid_request')
    else if (provider.fault === 'access denied') back.searchParams.set('error', 'access_denied')
    else {
      if (provider.fault !== 'code used before') grants.set(code, { request, person: provider.person })
      back.searchParams.set('code', code)
    }
    back.searchParams.set('state', provider.fault === 'wrong state' ? 'another' : (request.get('state') ?? ''))
    return back.href
  }

  async function token(request: IncomingMessage, body: URLSearchParams) {
    const grant = grants.get(body.get('code') ?? '')
    if (!provider.isCodeReusable) grants.delete(body.get('code') ?? '')
    if (body.get('client_id') !== provider.clientId || body.get('client_secret') !== provider.clientSecret)
      throw new Error('invalid_client')
    if (grant === undefined) throw new Error('invalid_grant')
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (challenge !== grant.request.get('code_challenge')) throw new Error('invalid_grant')
    if (body.get('redirect_uri') !== grant.request.get('redirect_uri')) throw new Error('invalid_grant')
    const accessToken = randomUUID()
    tokens.set(accessToken, grant.person)
    return { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: await idToken(grant) }
  }

  async function idToken({ request, person }: Grant): Promise<string> {
    const { fault } = provider
    const nowSeconds = Math.floor(Date.now() / 1000)
    const nonce = fault === 'wrong nonce' ? 'another' : (request.get('nonce') ?? '')
    const claims: JWTPayload = { ...person, ...(fault !== 'no nonce' && { nonce }) }
    const [header, payload] = [
      { alg: 'none' },
      { ...claims, iss: issuer, aud: provider.clientId, exp: nowSeconds + 300 },
    ]
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    if (fault === 'unsigned') return `${encode(header)}.${encode({ ...payload, iat: nowSeconds })}.`
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(fault === 'other issuer' ? 'https://other.example' : issuer)
      .setAudience(fault === 'wrong audience' ? 'another-client' : provider.clientId)
      .setIssuedAt(nowSeconds + (fault === 'issued tomorrow' ? 86_400 : fault === 'expired' ? -7200 : 0))
      .setExpirationTime(nowSeconds + (fault === 'expired' ? -3600 : 172_800))
      .sign(fault === 'other key' ? stranger.privateKey : privateKey)
  }

  function userInfoOf({ headers }: IncomingMessage) {
    const person = tokens.get(headers.authorization?.slice('Bearer '.length) ?? '')
    if (person === undefined) throw new Error('invalid_token')
    const sub = provider.fault === 'other subject in user info' ? 'another' : person.sub
    return { ...provider.userInfo, sub }
  }
}
