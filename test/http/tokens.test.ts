import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose'
import { startTestApp, type TestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const issuer = 'https://id.example.com'
const audience = 'gatehouse'
const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('a token of the configured issuer', () => {
  let scene: TestApp
  let keys: Awaited<ReturnType<typeof generateKeyPair>>
  let stranger: Awaited<ReturnType<typeof generateKeyPair>>
  let publicKeyText = ''
  const jwks = createServer((_request, response) => response.end(publicKeyText))

  before(async () => {
    keys = await generateKeyPair('ES256', { extractable: true })
    stranger = await generateKeyPair('ES256')
    publicKeyText = JSON.stringify({
      keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }],
    })
    await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve))
    const { port } = jwks.address() as AddressInfo
    scene = await startTestApp({
      config: { auth: { jwt: { issuer, audience, jwks_url: `http://127.0.0.1:${port}/jwks` } } },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    jwks.close()
  })

  type Change = {
    claims?: JWTPayload
    key?: CryptoKey
    kid?: string
    expires?: string | number
    issuer?: string
    audience?: string
  }
  const token = ({
    claims = {},
    key = keys.privateKey,
    kid = 'one',
    expires = '5m',
    ...other
  }: Change = {}): Promise<string> =>
    new SignJWT({ org_id: scene.organizationId, project_id: scene.projectId, scope: 'gateway:read', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setSubject('somebody')
      .setIssuer(other.issuer ?? issuer)
      .setAudience(other.audience ?? audience)
      .setExpirationTime(expires)
      .sign(key)
  const statusOf = async (bearer: string): Promise<number> =>
    (await scene.post('/v1/messages', body, { authorization: `Bearer ${bearer}` })).status

  const messageOf = async (bearer: string): Promise<string> => {
    const answer = await scene.post('/v1/messages', body, { authorization: `Bearer ${bearer}` })
    const { error } = (await answer.json()) as { error: { message: string } }
    return error.message
  }

  it('gets an error that names the claim, what was expected and what it has', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000)
    const wrong: readonly (readonly [Change, RegExp])[] = [
      [{ audience: 'other' }, /aud: expected "gatehouse", got "other"/],
      [{ issuer: 'https://evil.example' }, /iss: expected "https:\/\/id\.example\.com", got "https:\/\/evil\.example"/],
      [{ expires: nowSeconds - 60 }, /exp: the token expired at 2\d{3}-.*Z/],
      [{ kid: 'two' }, /kid: the issuer has no key "two" for "ES256"/],
      [{ key: stranger.privateKey }, /its signature does not match/],
      [{ claims: { org_id: undefined } }, /org_id is missing/],
      [{ claims: { project_id: 7 } }, /project_id: expected a text, got 7/],
      [{ claims: { nbf: nowSeconds + 600 } }, /nbf: the token is valid from /],
      [{ claims: { iat: nowSeconds + 600 } }, /iat: the token was issued in the future, at 2\d{3}-.*Z/],
      [{ claims: { project_id: 'proj_other' } }, /proj_other is not an active project of the organization org_/],
    ]
    for (const [change, message] of wrong) assert.match(await messageOf(await token(change)), message)
    const unsigned = new UnsecuredJWT({ sub: 'x' }).encode()
    assert.match(await messageOf(unsigned), /alg: expected EdDSA or ES256 or PS256 or RS256, got "none"/)
    assert.match(await messageOf('a.b.c'), /it is not a signed JWT/)
  })
  it('gets 401 in the error format of each endpoint family', async () => {
    const authorization = `Bearer ${await token({ audience: 'other' })}`
    const input = { model: 'gatehouse-echo', input: 'hi', messages: body.messages, max_tokens: 5 }
    const answers = await Promise.all(
      ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/moderations'].map(async (path) => {
        const fields = path === '/v1/responses' ? { model: input.model, input: input.input } : { ...input }
        const answer = await scene.post(path, fields, { authorization })
        return [
          path,
          answer.status,
          answer.headers.get('www-authenticate'),
          (await answer.json()) as { error: { type: string; code?: string } },
        ] as const
      }),
    )
    for (const [path, status, challenge, error] of answers) {
      assert.equal(status, 401, path)
      assert.match(challenge ?? '', /invalid_token/)
      assert.match(JSON.stringify(error), /The token is not valid: aud: expected/)
    }
    const [messages, chat, responses] = answers.map(([, , , error]) => error)
    assert.equal(messages?.error.type, 'authentication_error')
    assert.deepEqual([chat?.error.type, chat?.error.code], ['authentication_error', 'invalid_api_key'])
    assert.equal(JSON.stringify(responses).includes('invalid_api_key'), true)
  })
  it('is accepted', async () => assert.equal(await statusOf(await token()), 200))
  it('is rejected when another key signed it', async () =>
    assert.equal(await statusOf(await token({ key: stranger.privateKey })), 401))
  it('is rejected when its key id is unknown', async () =>
    assert.equal(await statusOf(await token({ kid: 'two' })), 401))
  it('is rejected from another issuer', async () =>
    assert.equal(await statusOf(await token({ issuer: 'https://evil.example' })), 401))
  it('is rejected for another audience', async () =>
    assert.equal(await statusOf(await token({ audience: 'other' })), 401))
  it('is rejected once it has expired, with 30 seconds of clock tolerance', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000)
    assert.equal(await statusOf(await token({ expires: nowSeconds - 10 })), 200)
    assert.equal(await statusOf(await token({ expires: nowSeconds - 60 })), 401)
  })
  it('is rejected for a project that is not the organization’s', async () => {
    assert.equal(await statusOf(await token({ claims: { project_id: 'proj_other' } })), 401)
    assert.equal(await statusOf(await token({ claims: { org_id: 'org_other' } })), 401)
  })
  it('is rejected without a signature', async () => {
    const claims = {
      org_id: scene.organizationId,
      project_id: scene.projectId,
      sub: 'x',
      iss: issuer,
      aud: audience,
      exp: 4_000_000_000,
    }
    assert.equal(await statusOf(new UnsecuredJWT(claims).encode()), 401)
  })
  it('is rejected when the public key was used as a shared secret', async () => {
    const forged = await new SignJWT({ org_id: scene.organizationId, project_id: scene.projectId })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .setSubject('x')
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(publicKeyText))
    assert.equal(await statusOf(forged), 401)
  })
  it('has exactly the gateway permissions of its scope, given as one text or as a list', async () => {
    for (const [scope, status] of [
      ['openid gateway:read', 200],
      [['openid', 'gateway:read'], 200],
      ['exports:read', 403],
      [[7, null], 403],
      [{ 'gateway:read': true }, 403],
    ] as const) {
      const authorization = `Bearer ${await token({ claims: { scope } })}`
      assert.equal((await scene.get('/api/policy-gateway/config', { authorization })).status, status)
    }
  })
  it('may be sent with a header of its own project, but of no other', async () => {
    const bearer = `Bearer ${await token()}`
    assert.equal(
      (await scene.post('/v1/messages', body, { authorization: bearer, 'x-policy-project': scene.projectId })).status,
      200,
    )
    assert.equal(
      (await scene.post('/v1/messages', body, { authorization: bearer, 'x-policy-project': 'proj_other' })).status,
      403,
    )
  })
})

it('a token of another type is rejected if the configuration requires a type, so an ID token is no access token', async () => {
  const secret = 'a secret that both sides share, long enough'
  const jwt = { issuer, audience, secret, type: 'at+jwt' }
  await using scene = await startTestApp({ config: { auth: { jwt } } })
  const statusOf = async (typ: string): Promise<number> => {
    const signed = await new SignJWT({ org_id: scene.organizationId, project_id: scene.projectId })
      .setProtectedHeader({ alg: 'HS256', typ })
      .setSubject('somebody')
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))
    return (await scene.post('/v1/messages', body, { authorization: `Bearer ${signed}` })).status
  }
  assert.deepEqual(
    [await statusOf('at+jwt'), await statusOf('application/at+jwt'), await statusOf('JWT')],
    [200, 200, 401],
  )
})

describe('a token whose issuer', () => {
  const failures: Readonly<Record<string, [status: number, body: string]>> = {
    'answers with an error': [500, 'no'],
    'answers with a page instead of keys': [200, '<html>'],
    'answers with JSON that has no keys': [200, '{}'],
  }
  for (const [failure, [status, payload]] of Object.entries(failures)) {
    it(`${failure} gets 503 with Retry-After, not 401`, async () => {
      const jwks = createServer((_request, response) => response.writeHead(status).end(payload))
      await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve))
      const { port } = jwks.address() as AddressInfo
      const jwt = { issuer, audience, jwks_url: `http://127.0.0.1:${port}/jwks` }
      await using scene = await startTestApp({ config: { auth: { jwt } } })
      const { privateKey } = await generateKeyPair('ES256')
      const signed = await new SignJWT().setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
      const answer = await scene.post('/v1/messages', body, { authorization: `Bearer ${signed}` })
      jwks.close()
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'])
    })
  }
})

it('tokens are rejected while no issuer is configured, with a message that says so', async () => {
  await using scene = await startTestApp()
  assert.equal((await scene.post('/v1/messages', body, { authorization: 'Bearer a.b.c' })).status, 401)
  const answer = await scene.post('/v1/messages', body, { authorization: 'Bearer eyJhbGciOiJFUzI1NiJ9.e30.x' })
  assert.equal(answer.status, 401)
  assert.match(await answer.text(), /this server accepts no tokens; auth\.jwt is not configured/)
})

it('the names of the claims can be configured, for issuers that reserve them', async () => {
  const secret = 'a secret that both sides share, long enough'
  const claims = { organization: 'https://gatehouse.example.com/org', project: 'team', scope: 'scp' }
  await using scene = await startTestApp({ config: { auth: { jwt: { issuer, audience, secret, claims } } } })
  const sign = (payload: JWTPayload): Promise<string> =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('somebody')
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))
  const named = await sign({ [claims.organization]: scene.organizationId, team: scene.projectId, scp: 'gateway:read' })
  const get = (token: string) => scene.get('/api/policy-gateway/config', { authorization: `Bearer ${token}` })
  assert.equal((await get(named)).status, 200)
  const usual = await get(await sign({ org_id: scene.organizationId, project_id: scene.projectId }))
  assert.equal(usual.status, 401)
  assert.match(await usual.text(), /https:\/\/gatehouse\.example\.com\/org is missing/)
})

it('the issuer in the guide makes a token that is accepted', async () => {
  const guide = readFileSync(new URL('../../docs/guide/jwt.md', import.meta.url), 'utf8')
  const [, script = ''] = /^```js\n(import.*?)^```$/ms.exec(guide) ?? []
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'issuer.mjs')
  writeFileSync(file, script)
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder.path, 'node_modules'))
  const port = await freePort()
  const jwt = { issuer: 'http://127.0.0.1:9000', audience, jwks_url: `http://127.0.0.1:${port}/jwks` }
  await using scene = await startTestApp({ config: { auth: { jwt } } })
  const env = { ...process.env, ORG: scene.organizationId, PROJECT: scene.projectId, PORT: String(port) }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = await once(child.stdout, 'data')
    const authorization = `Bearer ${String(line).trim()}`
    const answer = await scene.post('/v1/messages', body, { authorization })
    assert.equal(answer.status, 200, await answer.text())
  } finally {
    child.kill()
  }
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
