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

  it('have a size only where the operator or the upstream states it', async () => {
    type Sizes = { data: { id: string; max_input_tokens?: number; max_tokens?: number }[] }
    const listed = [{ id: 'unknown' }, { id: 'known', max_model_len: 4096 }]
    await using upstream = await startUpstream(answerJson({ data: listed }))
    const { upstreams, models } = configOf(upstream.url)
    const targets = [{ upstream: 'local' }]
    const configured = { name: 'sized', targets, context_tokens: 9_000, max_output_tokens: 700 }
    await using app = await startTestApp({
      config: { upstreams, models: [configured, { name: 'plain', targets }, ...models] },
    })
    const { data } = (await (await app.get('/v1/models')).json()) as Sizes
    assert.deepEqual(
      data.map(({ id, max_input_tokens: input, max_tokens: output }) => [id, input, output]),
      [
        ['sized', 9_000, 700],
        ['plain', undefined, undefined],
        ['unknown', undefined, undefined],
        ['known', 4_096, undefined],
      ],
    )
  })

  for (const path of ['/v1/messages', '/v1/responses', '/v1/chat/completions'])
    it(`are 404 on ${path} if the upstream does not have one of this name`, async () => {
      const error = { code: 'model_not_found', type: 'invalid_request_error', message: 'The model `x` does not exist.' }
      await using upstream = await startUpstream(answerJson({ error }, 404))
      const { upstreams, models } = configOf(upstream.url)
      const named = { name: 'named', targets: [{ upstream: 'local', model: 'gone' }] }
      await using app = await startTestApp({ config: { upstreams, models: [named, ...models] } })
      const messages = [{ role: 'user', content: 'Hi' }]
      const ask = async (model: string): Promise<[number, string | null]> => {
        const body = path === '/v1/responses' ? { input: 'Hi' } : { messages, max_tokens: 50 }
        const answer = await app.post(path, { model, ...body })
        return [answer.status, answer.headers.get('x-gatehouse-error-code')]
      }
      assert.deepEqual(await ask('missing'), [404, 'model_not_found'])
      assert.deepEqual(await ask('named'), [400, 'upstream_rejected'], 'the caller named an existing model')
    })

  it('are an empty list, not an error, if the upstream is down', async () => {
    await using upstream = await startUpstream(answerJson({ error: 'down' }, 500))
    await using app = await startTestApp({ config: configOf(upstream.url) })
    const answer = await app.get('/v1/models')
    assert.deepEqual([answer.status, await idsOf(answer)], [200, []])
  })
})
