import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gatewayHeaders } from '../../src/http/gateway-headers.ts'
import { startTestApp } from '../support/app.ts'
import { answerJson, answerStream, startUpstream } from '../support/upstream.ts'

const answer = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

describe('x-gatehouse-dropped', () => {
  for (const stream of [false, true]) {
    it(`names an unsupported tool in printable characters, under both names, ${stream ? 'streamed' : 'whole'}`, async () => {
      await using upstream = await startUpstream(
        stream
          ? answerStream(chunk({ content: 'Hello' }, null), chunk({}, 'stop'), 'data: [DONE]\n\n')
          : answerJson(answer),
      )
      await using scene = await startTestApp({
        config: {
          upstreams: [{ name: 'local', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
          models: [{ name: 'm', targets: [{ upstream: 'local', model: 'm' }] }],
        },
      })
      const response = await scene.post('/v1/messages', {
        model: 'm',
        max_tokens: 50,
        stream,
        messages: [{ role: 'user', content: 'Hello' }],
        tools: [
          { type: 'web_search_20250305', name: `sÉarch\r\nx-evil: 1 ${'x'.repeat(5_000)}` },
          { name: 'read', input_schema: { type: 'object' } },
        ],
      })
      assert.equal(response.status, 200)
      const dropped = response.headers.get('x-gatehouse-dropped')
      assert.equal(response.headers.get('x-gateway-dropped'), dropped)
      assert.match(dropped ?? '', /^tools\.s\?arch\?\?x-evil: 1 x{900,1000}$/)
      assert.equal(response.headers.get('x-evil'), null)
      assert.match(await response.text(), /Hello/)
    })
  }
})

describe('x-gatehouse-dropped, between kinds of upstream', () => {
  it('names each field that no encoder read, and not one that passes through', async () => {
    await using upstream = await startUpstream(answerJson(answer))
    await using scene = await startTestApp({
      config: {
        upstreams: [{ name: 'local', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'm', targets: [{ upstream: 'local', model: 'm' }] }],
      },
    })
    const translated = await scene.post('/v1/responses', { model: 'm', input: 'Hello', min_p: 0.1, my_field: 1 })
    assert.equal(translated.headers.get('x-gatehouse-dropped'), 'min_p, my_field')
    const messages = [{ role: 'user', content: 'Hello' }]
    const passed = await scene.post('/v1/chat/completions', { model: 'm', messages, min_p: 0.1 })
    assert.equal(passed.headers.get('x-gatehouse-dropped'), null)
    assert.equal(JSON.parse(upstream.requests.at(-1)?.body ?? '{}').min_p, 0.1)
    assert.equal((await scene.post('/v1/responses', { model: 'm', input: 'Hello', n: 2 })).status, 400)
  })
})

describe('x-gatehouse-hold-back', () => {
  const ask = async (denylist: readonly string[], stream: boolean): Promise<string | null> => {
    await using scene = await startTestApp()
    const { adminKey, url } = scene
    await fetch(`${url}/api/policy-gateway/config`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rules: { denylist, response_pattern: 'rewrite' } }),
    })
    const messages = [{ role: 'user', content: 'Hello' }]
    const response = await scene.post('/v1/chat/completions', { model: 'gatehouse-echo', stream, messages })
    assert.match(await response.text(), /Hello/)
    return response.headers.get('x-gatehouse-hold-back')
  }

  it('is whole on a stream if a rule needs whole blocks', async () => {
    assert.equal(await ask(['a secret'], true), 'whole')
  })

  it('is missing if no rule needs that, or if the answer is not streamed', async () => {
    assert.equal(await ask([], true), null)
    assert.equal(await ask(['a secret'], false), null)
  })
})

describe('x-gatehouse-token-source', () => {
  it('is sent under both names', async () => {
    await using scene = await startTestApp()
    const messages = [{ role: 'user', content: 'Hello' }]
    for (const [path, body] of [
      ['/v1/messages/count_tokens', { messages }],
      ['/v1/responses/input_tokens', { input: 'Hello' }],
    ] as const) {
      const { headers } = await scene.post(path, { model: 'gatehouse-echo', ...body })
      assert.equal(headers.get('x-gatehouse-token-source'), 'upstream', path)
      assert.equal(headers.get('x-gateway-token-source'), 'upstream', path)
    }
  })
})

describe('OpenAPI', () => {
  type Described = { deprecated?: boolean; description: string }
  type Operation = { responses: Record<string, { headers: Record<string, { $ref: string }> }> }
  type Document = {
    components: { headers: Record<string, Described> }
    paths: Record<string, Record<string, Operation>>
  }
  const describeApi = async (): Promise<Document> => {
    await using scene = await startTestApp()
    return (await (await scene.get('/openapi.json')).json()) as Document
  }

  it('describes each gateway header, and its alias as deprecated', async () => {
    const { headers } = (await describeApi()).components
    for (const [name, header] of Object.entries(gatewayHeaders)) {
      assert.equal(headers[name]?.description, header.description)
      assert.equal(headers[name]?.deprecated, undefined)
      if ('alias' in header) assert.equal(headers[header.alias]?.deprecated, true)
    }
    const gateway = Object.keys(headers).filter((name) => name.startsWith('x-gateway-'))
    assert.deepEqual(gateway, ['x-gateway-token-source', 'x-gateway-dropped'])
  })

  it('lists them at the endpoints that send them', async () => {
    const { paths } = await describeApi()
    const named = (path: string): string[] =>
      Object.keys(paths[path]?.['post']?.responses['200']?.headers ?? {}).filter((name) => name.startsWith('x-'))
    for (const path of ['/v1/messages', '/v1/responses', '/v1/chat/completions']) {
      assert.deepEqual(named(path), [
        'x-gatehouse-dropped',
        'x-gateway-dropped',
        'x-gatehouse-hold-back',
        'x-gatehouse-switched-model',
      ])
    }
    const source = ['x-gatehouse-token-source', 'x-gateway-token-source']
    assert.deepEqual(named('/v1/responses/input_tokens'), source)
    assert.deepEqual(named('/v1/messages/count_tokens'), [...source, 'x-gatehouse-dropped', 'x-gateway-dropped'])
    assert.deepEqual(named('/v1/organization/policies/{policy_id}/publish'), ['x-gatehouse-warning'])
  })
})
