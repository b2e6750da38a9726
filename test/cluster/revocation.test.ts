import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { systemRandom } from '../../src/base/random.ts'
import { mintSecret } from '../../src/domain/identity/key-format.ts'
import { startTestApp } from '../support/app.ts'
import { operatorOf } from '../support/operator.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('two nodes on one PostgreSQL', { skip: withoutPostgres }, () => {
  it('set up once when they start together, and learn of one another’s revocations within a second', async () => {
    await using database = await createScratchDatabase()
    const config = { secret: 'the same secret on every node' }
    const storage = { database_url: database.url }
    await using first = await startTestApp({ config, storage })
    await using second = await startTestApp({ config, storage, isFirst: false })
    const onSecond = (): Promise<Response> =>
      second.post('/v1/messages', body, { authorization: `Bearer ${first.apiKey}` })

    assert.equal((await onSecond()).status, 200)
    const { api_keys: apiKeys } = await operatorOf(first.app).listKeys()
    await operatorOf(first.app).revokeKey(apiKeys[0]?.id ?? '')
    assert.equal((await first.post('/v1/messages', body)).status, 401)
    const revokedAtMs = performance.now()
    while ((await onSecond()).status === 200) {
      assert.ok(performance.now() - revokedAtMs < 20_000, 'the revocation never reached the second node')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await assert.rejects(operatorOf(second.app).setUp('again'), /exists already/)
  })

  it('serve cached keys while the database cannot be reached, and are ready but degraded', async () => {
    await using database = await createScratchDatabase()
    const config = { secret: 'a secret of sixteen and more' }
    const storage = { database_url: database.url }
    await using first = await startTestApp({ config, storage })
    await using second = await startTestApp({ config, storage, isFirst: false })
    const known = { authorization: `Bearer ${first.apiKey}` }
    assert.equal((await second.post('/v1/messages', body, known)).status, 200)
    await database[Symbol.asyncDispose]()
    assert.equal((await second.post('/v1/messages', body, known)).status, 200)
    const ready = await second.get('/health/ready')
    assert.equal(ready.status, 200)
    assert.match(await ready.text(), /"status":"ready","degraded":\[\{"part":"storage"/)
    const strictly = await second.get('/health/ready?strict')
    assert.equal(strictly.status, 503)
    assert.match(await strictly.text(), /"status":"not_ready","failing":\[\{"part":"storage"/)
    const stranger = mintSecret('ak', systemRandom)
    assert.equal((await second.post('/v1/messages', body, { authorization: `Bearer ${stranger}` })).status, 503)
  })
})
