import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SignJWT } from 'jose'
import { systemRandom } from '../../src/base/random.ts'
import { mintSecret, type KeyKind } from '../../src/domain/identity/key-format.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { operatorOf } from '../support/operator.ts'

const issuer = 'https://id.example.com'
const audience = 'gatehouse'
const sharedSecret = 'a secret that both sides share, long enough'
const anotherSecret = 'a secret that nobody shares with the server'
const message = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const failuresPerMinute = 5
const maxPerSender = 2_000

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
/** With a correct checksum, so that only a lookup can reject it. */
const invented = (kind: KeyKind = 'ak'): string => mintSecret(kind, systemRandom)

const tokenOf = ({ organizationId, projectId }: TestApp, secret = sharedSecret): Promise<string> =>
  new SignJWT({ org_id: organizationId, project_id: projectId })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('somebody')
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(secret))

const config = {
  server: { auth_failures_per_minute: failuresPerMinute },
  auth: { jwt: { issuer, audience, secret: sharedSecret } },
}

/** A server whose budget for this address is used up before it has cached any valid credential. */
async function startOverBudget(): Promise<TestApp> {
  const scene = await startTestApp({ config })
  for (let count = 0; count < failuresPerMinute; count++) {
    const { status } = await scene.get('/v1/models', bearer(invented()))
    assert.equal(status, 401)
  }
  return scene
}

describe('an address that sent more invented keys than its budget', () => {
  let scene: TestApp
  before(async () => void (scene = await startOverBudget()))
  after(() => scene[Symbol.asyncDispose]())

  it('still gets its valid credentials accepted, even if they are not cached', async () => {
    const gateway = '/api/policy-gateway/config'
    assert.equal((await scene.get('/v1/organization/policies', bearer(scene.adminKey))).status, 200)
    assert.equal((await scene.post('/v1/messages', message)).status, 200)
    assert.equal((await scene.post('/v1/messages', message, bearer(await tokenOf(scene)))).status, 200)
    const later = await operatorOf(scene.app).createKey({ name: 'Later' })
    assert.equal((await scene.post('/v1/messages', message, bearer(later.value))).status, 200)
    assert.equal((await scene.get(gateway, bearer(scene.apiKey))).status, 200)
  })

  it('gets 429 for every further invalid credential, with the reason', async () => {
    const known = invented()
    for (const secret of [known, known, await tokenOf(scene, anotherSecret)]) {
      const rejected = await scene.post('/v1/chat/completions', message, bearer(secret))
      assert.equal(rejected.status, 429)
      const wait = Number(rejected.headers.get('retry-after'))
      assert.ok(wait >= 1 && wait <= 60, `waits for ${wait}`)
      assert.match(
        await rejected.text(),
        /(invalid, expired or revoked|is not valid).* Too many failed authentications came from this address/,
      )
    }
    const rejected = await scene.get('/v1/organization/policies', bearer(invented('adm')))
    assert.deepEqual([rejected.status, rejected.headers.get('www-authenticate')], [429, null])
  })

  it('gets 401 for a malformed key, because it costs no lookup', async () => {
    for (const headers of [bearer('ak_nonsense'), {}]) {
      assert.equal((await scene.post('/v1/messages', message, headers)).status, 401)
    }
  })

  for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/moderations']) {
    it(`gets the 429 in OpenAI’s format at ${path}`, async () => {
      const rejected = await scene.post(path, message, bearer(invented()))
      const { error } = (await rejected.json()) as { error: Record<string, unknown> }
      assert.ok(Number(rejected.headers.get('retry-after')) >= 1)
      assert.deepEqual(
        [rejected.status, error['type'], error['code'], error['param']],
        [429, 'rate_limit_error', 'rate_limit_exceeded', null],
      )
    })
  }

  it('gets the 429 in Anthropic’s format at /v1/messages', async () => {
    const rejected = await scene.post('/v1/messages', message, bearer(invented()))
    const { type, error } = (await rejected.json()) as { type: string; error: Record<string, unknown> }
    assert.deepEqual([rejected.status, type, error['type']], [429, 'error', 'rate_limit_error'])
  })
})

it('credentials that are not cached are answered while a flood of invented keys and forged tokens goes on', async () => {
  await using scene = await startTestApp({ config })
  const operator = operatorOf(scene.app)
  const forged = await tokenOf(scene, anotherSecret)
  const statuses = new Set<number>()
  const flood = { isOver: false, answered: 0 }
  const isUnderWay = Promise.withResolvers<void>()
  const senders = Array.from({ length: 32 }, async (_, sender) => {
    // Bounded, so that the test also ends if the server never answers.
    for (let count = 0; count < maxPerSender && !flood.isOver; count++) {
      const rejected = await scene.get('/v1/models', bearer(sender % 4 === 0 ? forged : invented()))
      statuses.add(rejected.status)
      await rejected.arrayBuffer()
      if (++flood.answered === 200) isUnderWay.resolve()
    }
  })
  try {
    await isUnderWay.promise
    for (let count = 0; count < 5; count++) {
      // Creating the key changes the organization, which evicts all of its cached credentials.
      const { value } = await operator.createKey({ name: `Key ${count}` })
      for (const secret of [value, await tokenOf(scene)]) {
        assert.equal((await scene.post('/v1/messages', message, bearer(secret))).status, 200)
      }
      assert.equal((await scene.get('/v1/organization/policies', bearer(scene.adminKey))).status, 200)
    }
    assert.ok(flood.answered < senders.length * maxPerSender, 'the flood still went on')
  } finally {
    flood.isOver = true
    await Promise.all(senders)
  }
  assert.deepEqual(statuses, new Set([401, 429]))
})
