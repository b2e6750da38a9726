import assert from 'node:assert/strict'
import test, { describe, it } from 'node:test'
import { startAdminApp, type Json } from '../support/administration.ts'
import { assertAnswered } from '../support/fuzz.ts'
import { startTestApp } from '../support/app.ts'
import { operationsOf } from '../support/openapi.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

test('any request to the model endpoints gets a response that the OpenAPI description allows', async (context) => {
  await using app = await startAdminApp()
  for (const operation of operationsOf(app.app.openapi(), '/v1/models')) {
    await context.test(`${operation.method} ${operation.path}`, () =>
      assertAnswered(operation, ['gatehouse-echo'], async (method, { path, headers }) => {
        const authorization = `Bearer ${app.apiKey}`
        const answer = await fetch(app.url + path, { method, headers: { ...headers, authorization } })
        return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json }
      }),
    )
  }
})

describe('the models of an upstream that is configured with a pattern', () => {
  const configOf = (url: string) => ({
    upstreams: [{ name: 'local', kind: 'openai-chat', base_url: `${url}/v1`, api_key: 'upstream-key' }],
    models: [{ name: '*', targets: [{ upstream: 'local' }] }],
  })
  const idsOf = async (answer: Response): Promise<string[]> => {
    const { data } = (await answer.json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }

  it('are listed as the upstream lists them', async () => {
    const list = {
      object: 'list',
      data: [
        { id: 'smollm2', object: 'model' },
        { id: 'org/other', object: 'model' },
      ],
    }
    await using upstream = await startUpstream(answerJson(list))
    await using app = await startTestApp({ config: configOf(upstream.url) })
    assert.deepEqual(await idsOf(await app.get('/v1/models')), ['smollm2', 'org/other'])
    const [request] = upstream.requests
    assert.deepEqual([request?.method, request?.path], ['GET', '/v1/models'])
    assert.equal(request?.headers['authorization'], 'Bearer upstream-key')
    assert.equal((await app.get('/v1/models/org%2Fother')).status, 200)
    assert.equal((await app.get('/v1/models/missing')).status, 404)
  })

  it('are limited to those that the key may use', async () => {
    await using upstream = await startUpstream(answerJson({ data: [{ id: 'one' }, { id: 'two' }] }))
    await using app = await startTestApp({ config: configOf(upstream.url) })
    const created = await fetch(`${app.url}/v1/organization/projects/${app.projectId}/api_keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', models: ['two'] }),
    })
    const { value } = (await created.json()) as { value: string }
    assert.deepEqual(await idsOf(await app.get('/v1/models', { authorization: `Bearer ${value}` })), ['two'])
  })

  it('are an empty list, not an error, if the upstream is down', async () => {
    await using upstream = await startUpstream(answerJson({ error: 'down' }, 500))
    await using app = await startTestApp({ config: configOf(upstream.url) })
    const answer = await app.get('/v1/models')
    assert.deepEqual([answer.status, await idsOf(answer)], [200, []])
  })
})
