import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startHouse } from '../support/house.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('requests while the audit log cannot be written', { skip: withoutPostgres }, () => {
  it('are refused, whole or streamed, unless it was decided to go on and count', async () => {
    await using database = await createScratchDatabase()
    const config = { storage: { database_url: database.url }, secret: 'a secret of sixteen and more' }
    await using careful = await startHouse({ config })
    await using easy = await startHouse({ config: { ...config, audit: { on_failure: 'continue' } }, isFirst: false })
    const known = { authorization: `Bearer ${careful.apiKey}` }
    const ask = (house: typeof careful, stream: boolean) => house.post('/v1/messages', { ...body, stream }, known)
    for (const house of [careful, easy]) assert.equal((await ask(house, false)).status, 200)
    await database[Symbol.asyncDispose]()

    const refused = await ask(careful, false)
    assert.equal(refused.status, 503)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    const streamed = await (await ask(careful, true)).text()
    assert.match(streamed, /event: error/)
    assert.doesNotMatch(streamed, /message_stop/)

    assert.equal((await ask(easy, false)).status, 200)
    assert.match(await (await ask(easy, true)).text(), /message_stop/)
    const metrics = await (await easy.get('/metrics', known)).text()
    assert.match(metrics, /gatehouse_audit_events_lost_total 2/)
  })
})
