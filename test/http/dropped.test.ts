import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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

describe('what the upstream could not be told', () => {
  for (const stream of [false, true]) {
    it(`is named in a header that can be sent, whatever its caller called it, ${stream ? 'streamed' : 'whole'}`, async () => {
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
        tools: [{ type: 'web_search_20250305', name: `sÉarch\r\nx-evil: 1 ${'x'.repeat(5_000)}` }],
      })
      assert.equal(response.status, 200)
      assert.match(response.headers.get('x-gateway-dropped') ?? '', /^tools\.s\?arch\?\?x-evil: 1 x{900,1000}$/)
      assert.equal(response.headers.get('x-evil'), null)
      assert.match(await response.text(), /Hello/)
    })
  }
})
