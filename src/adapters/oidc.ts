import * as client from 'openid-client'
import { hourMs, type Clock } from '../base/clock.ts'
import { messageOf } from '../base/fault.ts'
import { isRecord } from '../base/record.ts'
import { IdentityProviderError, type IdentityProvider, type Person } from '../domain/members/identity-provider.ts'
import { foldEmail } from '../domain/members/members.ts'

export type OidcSettings = {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: () => string | undefined
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  /** Whether an address counts although the issuer does not say that it verified it. */
  readonly trustEmail: boolean
}

const timeoutSeconds = 5
const discoveryMs = hourMs
/** How far the clock of the issuer may be ahead. */
const toleranceMs = 30_000

/**
 * OpenID Connect: authorization code with PKCE, state and nonce. The issuer is discovered at the first sign-in and again each hour,
 * so that an issuer that is down stops nothing but sign-ins.
 */
export function createOidcProvider(
  settings: OidcSettings,
  clock: Pick<Clock, 'monotonicMs' | 'nowMs'>,
): IdentityProvider {
  let known:
    | { readonly configuration: client.Configuration; readonly secret: string | undefined; readonly atMs: number }
    | undefined

  /** Shared, because everybody can start sign-ins, and an issuer that is down answers none of them. */
  let running:
    | { readonly configuration: Promise<client.Configuration>; readonly secret: string | undefined }
    | undefined

  async function discovered(): Promise<client.Configuration> {
    const secret = settings.clientSecret()
    const nowMs = clock.monotonicMs()
    if (known && known.secret === secret && nowMs - known.atMs < discoveryMs) return known.configuration
    if (running === undefined || running.secret !== secret)
      running = { configuration: discover(settings, secret), secret }
    const mine = running
    try {
      const configuration = await mine.configuration
      known = { configuration, secret, atMs: nowMs }
      return configuration
    } catch (error) {
      throw new IdentityProviderError(
        'unreachable',
        `the issuer ${settings.issuer} cannot be discovered: ${messageOf(error)}`,
        error,
      )
    } finally {
      if (running === mine) running = undefined
    }
  }

  return {
    async start(redirectUri) {
      const configuration = await discovered()
      const [state, nonce, codeVerifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
      return { url: url.href, pending: { state, nonce, codeVerifier, redirectUri } }
    },
    async finish(answer, { state, nonce, codeVerifier, redirectUri }) {
      const configuration = await discovered()
      const callback = new URL(redirectUri)
      callback.search = answer.toString()
      try {
        const tokens = await client.authorizationCodeGrant(configuration, callback, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (claims === undefined) throw new Error('the answer has no ID token')
        if (claims.iat * 1000 > clock.nowMs() + toleranceMs)
          throw new Error(`the ID token was issued in the future: iat is ${claims.iat}`)
        const more = await userInfo(configuration, tokens.access_token, claims)
        return personOf(claims, more, settings)
      } catch (error) {
        throw new IdentityProviderError(isNetworkError(error) ? 'unreachable' : 'rejected', problemOf(error), error)
      }
    },
  }

  /** Some issuers send groups and addresses only from their user info endpoint. */
  async function userInfo(
    configuration: client.Configuration,
    accessToken: string,
    claims: client.IDToken,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (claims[settings.groupsClaim] !== undefined && claims['email'] !== undefined) return {}
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {}
    return client.fetchUserInfo(configuration, accessToken, claims.sub)
  }
}

async function discover(
  { issuer, clientId }: Pick<OidcSettings, 'issuer' | 'clientId'>,
  secret: string | undefined,
): Promise<client.Configuration> {
  const authentication = secret === undefined ? client.None() : secretAuthentication(secret)
  const configuration = await client.discovery(new URL(issuer), clientId, undefined, authentication, optionsOf(issuer))
  // Anybody can create a tenant, and choose the groups and addresses in it.
  if (configuration.serverMetadata().issuer.includes('{tenantid}'))
    throw new Error('it signs in people of every tenant; configure the issuer of your own tenant')
  return configuration
}

/** Reads the description of an issuer as a sign-in does, and fails if it is not there or not valid. */
export async function discoverIssuer(issuer: string): Promise<void> {
  await discover({ issuer, clientId: 'gatehouse' }, undefined)
}

function optionsOf(issuer: string): client.DiscoveryRequestOptions {
  // oxlint-disable-next-line typescript/no-deprecated -- the configuration allows plain HTTP for loopback addresses only
  const insecure = issuer.startsWith('http://') ? [client.allowInsecureRequests] : []
  return { execute: [...insecure, client.enableNonRepudiationChecks], timeout: timeoutSeconds }
}

/** In the body if the issuer supports it, otherwise in a header, which is the default of the standard. */
const secretAuthentication =
  (secret: string): client.ClientAuth =>
  (server, ...request) => {
    const isInBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true
    const authenticate = isInBody ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret)
    return authenticate(server, ...request)
  }

type Claims = Readonly<Record<string, unknown>>

/** `more`: claims of the user info endpoint, for what the ID token leaves out. */
function personOf(claims: Claims, more: Claims, { groupsClaim, trustEmail }: OidcSettings): Person {
  const all = { ...more, ...claims }
  const { iss: issuer, sub: subject } = claims
  if (textOf(issuer) === null || textOf(subject) === null) throw new Error('the ID token has no subject')
  const email = textOf(all['email'])
  const isVerified = trustEmail || isVerifiedIn([claims, more], email)
  return {
    issuer: String(issuer),
    subject: String(subject),
    email: email !== null && isVerified ? foldEmail(email) : null,
    name: textOf(all['name']),
    groups: groupsOf(all[groupsClaim]),
  }
}

/** `email_verified` is about the address in the same answer. The ID token comes first. */
function isVerifiedIn(answers: readonly Claims[], address: string | null): boolean {
  const about = answers.filter(({ email }) => address !== null && textOf(email) === address)
  const verified = about.map((answer) => answer['email_verified']).find((claim) => claim !== undefined)
  return verified === true || verified === 'true'
}

/** NUL is excluded because PostgreSQL cannot store it. */
const textOf = (claim: unknown): string | null =>
  typeof claim === 'string' && claim.trim() !== '' && !claim.includes('\0') ? claim.trim() : null

/** A list from most issuers, one text from some. */
function groupsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim]
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : []
}

/** The message of openid-client is general; its cause has the reason. */
function problemOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const reason = isRecord(error) && typeof error['error'] === 'string' ? ` (${error['error']})` : ''
  return `${messageOf(error)}${reason}${cause instanceof Error ? `: ${cause.message}` : ''}`
}

const isNetworkError = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')
