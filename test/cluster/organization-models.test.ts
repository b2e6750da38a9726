import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminOf } from '../support/administration.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}

describe('a model that is added on one of two nodes', { skip: withoutPostgres }, () => {
  it('answers on the other, with the changed key, and no longer after its deletion', async () => {
    await using database = await createScratchDatabase()
    await using upstream = await startUpstream(answerJson(completion))
    const config = { secret: 'the same secret on every node' }
    const storage = { database_url: database.url }
    await using first = await startTestApp({ config, storage })
    await using second = await startTestApp({ config, storage, isFirst: false })
    const authorization = `Bearer ${first.apiKey}`
    const admin = adminOf(first.url, first.adminKey)
    const statusOn = async (node: TestApp): Promise<number> =>
      (await node.post('/v1/chat/completions', body, { authorization })).status
    const body = { model: 'added', messages: [{ role: 'user', content: 'Hi' }] }
    const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
      while (!(await isTrue())) await sleep(20)
    }
    assert.equal(await statusOn(second), 404, 'both nodes have read what the organization added')

    await admin.post('/upstreams', { name: 'own', kind: 'openai-chat', base_url: upstream.url, api_key: 'first-key' })
    await admin.post('/models', { name: 'added', targets: [{ upstream: 'own' }] })
    assert.equal(await statusOn(first), 200, 'the node that answered has it at once')
    await until(async () => (await statusOn(second)) === 200)

    await admin.send('PATCH', '/upstreams/own', { body: { api_key: 'second-key' } })
    await until(async () => {
      await statusOn(second)
      return upstream.requests.at(-1)?.headers.authorization === 'Bearer second-key'
    })

    await admin.send('DELETE', '/models/added')
    assert.equal(await statusOn(first), 404)
    await until(async () => (await statusOn(second)) === 404)
  })

  it('answers while the database cannot be reached', async () => {
    await using database = await createScratchDatabase()
    const config = { secret: 'a secret of sixteen and more' }
    await using app = await startTestApp({ config, storage: { database_url: database.url } })
    const admin = adminOf(app.url, app.adminKey)
    await admin.post('/upstreams', { name: 'own', kind: 'echo' })
    await admin.post('/models', { name: 'added', targets: [{ upstream: 'own' }] })
    const body = { model: 'added', messages: [{ role: 'user', content: 'Hi' }] }
    assert.equal((await app.post('/v1/chat/completions', body)).status, 200)
    await database[Symbol.asyncDispose]()
    assert.equal((await app.post('/v1/chat/completions', body)).status, 200)
  })
})
