import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const messages = [{ role: 'user', content: 'How many tokens is this?' }]
const tools = [
  { name: 'weather', description: 'Tells the weather of a city. '.repeat(20), input_schema: { type: 'object' } },
]

const withAnthropic = (url: string) => ({
  upstreams: [{ name: 'a', kind: 'anthropic', base_url: url }],
  models: [{ name: 'claude', targets: [{ upstream: 'a', model: 'claude-real' }] }],
})

const withChat = (url: string) => ({
  upstreams: [{ name: 'c', kind: 'openai-chat', base_url: url }],
  models: [{ name: 'gpt', targets: [{ upstream: 'c' }] }],
})

type Count = { input_tokens: number }

/** The fields that the response names as left out. */
const droppedIn = (response: Response): string | null => response.headers.get('x-gatehouse-dropped')

describe('counting tokens', () => {
  it('lets the upstream count if it can, and names the source', async () => {
    await using upstream = await startUpstream(answerJson({ input_tokens: 4711 }))
    await using scene = await startTestApp({ config: withAnthropic(upstream.url) })
    const response = await scene.post('/v1/messages/count_tokens', { model: 'claude', messages, tools })
    assert.equal(((await response.json()) as Count).input_tokens, 4711)
    assert.equal(response.headers.get('x-gatehouse-token-source'), 'upstream')
    assert.equal(response.headers.get('request-id'), response.headers.get('x-request-id'))
    const [countRequest] = upstream.requests
    assert.equal(countRequest?.path, '/v1/messages/count_tokens')
    assert.deepEqual(Object.keys(JSON.parse(countRequest?.body ?? '{}')).sort(), ['messages', 'model', 'tools'])
  })
  it('counts with the gateway’s tokenizer if the upstream cannot count, and names the source', async () => {
    await using upstream = await startUpstream(answerJson({ error: { type: 'not_found_error', message: 'no' } }, 404))
    await using scene = await startTestApp({ config: withAnthropic(upstream.url) })
    const response = await scene.post('/v1/messages/count_tokens', { model: 'claude', messages })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('x-gatehouse-token-source'), 'tokenizer')
    assert.ok(((await response.json()) as Count).input_tokens >= 6)
  })
  it('sends the upstream no text that the request itself could not send', async () => {
    await using upstream = await startUpstream(answerJson({ input_tokens: 4711 }))
    await using scene = await startTestApp({ config: withAnthropic(upstream.url) })
    const authorization = `Bearer ${scene.apiKey}`
    const config = { rules: { denylist: ['falcon'], redact: true } }
    assert.equal((await scene.post('/api/policy-gateway/config', config, { authorization })).status, 200)
    const sourceOf = async (content: string | object[]): Promise<string | null> => {
      const body = { model: 'claude', messages: [{ role: 'user', content }] }
      return (await scene.post('/v1/messages/count_tokens', body)).headers.get('x-gatehouse-token-source')
    }
    assert.equal(await sourceOf('About the falcon'), 'tokenizer')
    assert.equal(await sourceOf('I want to kill myself tonight.'), 'tokenizer')
    assert.equal(upstream.requests.length, 0)
    assert.equal(await sourceOf('Write to ada@example.org'), 'upstream')
    assert.match(upstream.requests[0]?.body ?? '', /Write to \[EMAIL_1\]/)

    const policies = `${scene.url}/v1/organization/policies`
    const headers = { authorization: `Bearer ${scene.adminKey}`, 'content-type': 'application/json' }
    const send = async (path: string, body: object): Promise<{ id: string }> =>
      (await fetch(`${policies}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json() as never
    const publish = async (rule: string): Promise<void> => {
      const { id } = await send('', { name: `Rule ${rule}`, rule, mode: 'enforcing' })
      await send(`/${id}/publish`, { revision: 1 })
    }
    await publish('"condor"')
    assert.equal(await sourceOf('About the condor'), 'tokenizer')
    assert.equal(upstream.requests.length, 1)
    assert.equal(await sourceOf('About the weather'), 'upstream')
    await publish('cel:user == ""')
    assert.equal(
      await sourceOf([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw' } }]),
      'tokenizer',
    )
  })
  it('does not scan texts that no upstream receives', async () => {
    await using classifier = await startUpstream(answerJson({ results: [] }))
    await using scene = await startTestApp({
      config: { moderation: { classifier: { kind: 'openai', base_url: classifier.url, api_key: 'k' } } },
    })
    const body = { model: 'gatehouse-echo', messages: [{ role: 'user', content: 'Сколько здесь слов?' }] }
    assert.equal((await scene.post('/v1/messages/count_tokens', body)).status, 200)
    assert.equal(classifier.requests.length, 0)
    await scene.post('/v1/messages', { ...body, max_tokens: 9 })
    assert.equal(classifier.requests.length > 0, true)
  })
  it('counts system, tools, calls and results, and images by rule', async () => {
    await using scene = await startTestApp()
    const count = async (body: object): Promise<number> =>
      (
        (await (
          await scene.post('/v1/messages/count_tokens', { model: 'gatehouse-echo', messages, ...body })
        ).json()) as Count
      ).input_tokens
    const plain = await count({})
    assert.ok((await count({ system: 'You are a careful helper of few words.' })) > plain + 5)
    assert.ok((await count({ tools })) > plain + 100)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) } }
    const withImage = await count({ messages: [{ role: 'user', content: [image] }] })
    assert.ok(withImage > 1000 && withImage < 3000)
  })
  it('sends the limit headers', async () => {
    await using scene = await startTestApp({ config: { limits: {} } })
    const response = await scene.post('/v1/messages/count_tokens', { model: 'gatehouse-echo', messages })
    assert.equal(response.headers.get('x-ratelimit-limit-requests'), '60')
    assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '59')
  })
  it('accepts Claude Code’s context management', async () => {
    await using scene = await startTestApp()
    const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }
    assert.equal(
      (await scene.post('/v1/messages/count_tokens', { model: 'gatehouse-echo', messages, context_management })).status,
      200,
    )
  })
  it('handles texts without a position to split them at', async () => {
    await using scene = await startTestApp()
    const content = 'a'.repeat(200_000) + ' '.repeat(200_000) + '漢字'.repeat(50_000)
    const response = await scene.post('/v1/messages/count_tokens', {
      model: 'gatehouse-echo',
      messages: [{ role: 'user', content }],
    })
    assert.ok(((await response.json()) as Count).input_tokens > 10_000)
  })
  it('estimates a long request from a sample, and names the source', async () => {
    await using upstream = await startUpstream()
    await using scene = await startTestApp({ config: withChat(upstream.url) })
    const content = 'The quick brown fox jumps over the lazy dog. '.repeat(20_000)
    const body = { model: 'gpt', messages: [{ role: 'user', content }] }
    const response = await scene.post('/v1/messages/count_tokens', body)
    assert.equal(response.headers.get('x-gatehouse-token-source'), 'sample')
    const { input_tokens: tokens } = (await response.json()) as Count
    assert.ok(tokens > 190_000 && tokens < 210_000, String(tokens))
  })
  it('rejects an invalid body with 422 and the path of every problem', async () => {
    await using scene = await startTestApp()
    const response = await scene.post('/v1/messages/count_tokens', {
      model: 'gatehouse-echo',
      messages: [{ role: 'user' }],
    })
    assert.equal(response.status, 422)
    const { detail } = (await response.json()) as { detail: { loc: unknown[]; msg: string; type: string }[] }
    assert.deepEqual(detail[0]?.loc.slice(0, 3), ['body', 'messages', 0])
  })
  it('has the limit headers on every error, because the call was counted', async () => {
    await using scene = await startTestApp({ config: { limits: {} } })
    const bodies = [
      { model: 'gatehouse-echo', messages: [] },
      { model: 'nowhere', messages },
    ]
    for (const [at, body] of bodies.entries()) {
      const response = await scene.post('/v1/messages/count_tokens', body)
      assert.equal(response.status, [422, 404][at])
      assert.equal(response.headers.get('x-ratelimit-limit-requests'), '60')
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), String(59 - at))
    }
  })
  it('repeats the invalid value, and the object that lacks a field', async () => {
    await using scene = await startTestApp()
    const detailOf = async (more: object): Promise<unknown> => {
      const body = { model: 'gatehouse-echo', messages, ...more }
      const response = await scene.post('/v1/messages/count_tokens', body)
      assert.equal(response.status, 422)
      const { detail } = (await response.json()) as { detail: { input: unknown }[] }
      return detail[0]?.input
    }
    assert.deepEqual(await detailOf({ system: { text: 'no' } }), { text: 'no' })
    assert.deepEqual(await detailOf({ messages: [{ role: 'user' }] }), { role: 'user' })
    assert.deepEqual(await detailOf({ tools: [7] }), 7)
    assert.deepEqual(await detailOf({ tool_choice: { type: 'tool', name: 'none' } }), 'none')
    assert.equal(String(await detailOf({ system: { text: 'x'.repeat(5000) } })).length, 1000)
  })
  it('agrees with what the echo model charges, system and tools included', async () => {
    await using scene = await startTestApp()
    const system = 'Be brief. '.repeat(30)
    for (const more of [{}, { system }, { system, tools }]) {
      const body = { model: 'gatehouse-echo', messages, ...more }
      const counted = (await (await scene.post('/v1/messages/count_tokens', body)).json()) as Count
      const answer = await scene.post('/v1/messages', { ...body, max_tokens: 50 })
      const { usage } = (await answer.json()) as { usage: Count }
      assert.equal(counted.input_tokens, usage.input_tokens)
    }
  })
  it('names edits of the context that nobody applies, and passes them to an upstream that does', async () => {
    await using upstream = await startUpstream(answerJson({ input_tokens: 4711 }))
    await using other = await startUpstream()
    const [anthropic, chat] = [withAnthropic(upstream.url), withChat(other.url)]
    const echo = { name: 'gatehouse-echo', targets: [{ upstream: 'echo' }] }
    await using scene = await startTestApp({
      config: {
        upstreams: [...anthropic.upstreams, ...chat.upstreams, { name: 'echo', kind: 'echo' }],
        models: [...anthropic.models, ...chat.models, echo],
      },
    })
    const count = (model: string, edit: object) =>
      scene.post('/v1/messages/count_tokens', { model, messages, context_management: { edits: [edit] } })
    for (const edit of [
      { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } },
      { type: 'clear_tool_uses_20250919' },
      { type: 'something_new', keep: 'all' },
    ]) {
      assert.equal(droppedIn(await count('gpt', edit)), 'context_management')
      assert.equal(droppedIn(await count('gatehouse-echo', edit)), 'context_management')
      assert.equal(droppedIn(await count('claude', edit)), null)
      assert.deepEqual(JSON.parse(upstream.requests.at(-1)?.body ?? '').context_management, { edits: [edit] })
      const body = { model: 'gatehouse-echo', messages, max_tokens: 50, context_management: { edits: [edit] } }
      assert.equal(droppedIn(await scene.post('/v1/messages', body)), 'context_management')
    }
    const kept = { type: 'clear_thinking_20251015', keep: 'all' }
    for (const model of ['gpt', 'gatehouse-echo', 'claude']) assert.equal(droppedIn(await count(model, kept)), null)
  })
  it('serves the responses dialect, too', async () => {
    await using scene = await startTestApp()
    const response = await scene.post('/v1/responses/input_tokens', { model: 'gatehouse-echo', input: 'How many?' })
    assert.partialDeepStrictEqual(await response.json(), { object: 'response.input_tokens' })
  })
})
