import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calls, image, pdf, result, say, sentTo, tool } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { InferenceRequest, Tool } from '../../../domain/inference/request.ts'

const sent = (overrides: Partial<InferenceRequest>, more = {}) =>
  sentTo('openai-responses', requestBy('messages', overrides), more)

describe('a request to a Responses upstream', () => {
  it('disables storage and requests encrypted reasoning', async () => {
    const { body, url } = await sent({}, { model: 'm', settings: { baseUrl: 'https://upstream.test/v1' } })
    assert.equal(url, 'https://upstream.test/v1/responses')
    assert.deepEqual(body, {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      max_output_tokens: 4096,
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
    })
  })

  it('does not request reasoning from models without it', async () => {
    const { body } = await sent({ reasoning: { effort: 'high' } }, { model: 'gpt-4.1' })
    assert.deepEqual([body['include'], body['reasoning']], [undefined, undefined])
  })

  it('sends calls, results and text in order, without item ids', async () => {
    const failed = { ...result('a', 'gone'), isError: true }
    const { body } = await sent({
      messages: [
        say('system', 'one', 'two'),
        say('user', 'go', image),
        say('assistant', 'Looking.', calls('a', 'read', '{"p":1}'), calls('b', 'read', '')),
        say('user', 'before', failed, result('b', 'x', image), 'after'),
        say('system', 'later'),
      ],
    })
    assert.equal(body['instructions'], 'one\n\ntwo')
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'auto' }
    assert.deepEqual(body['input'], [
      { role: 'user', content: [{ type: 'input_text', text: 'go' }, picture] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Looking.', annotations: [] }] },
      { type: 'function_call', call_id: 'a', name: 'read', arguments: '{"p":1}' },
      { type: 'function_call', call_id: 'b', name: 'read', arguments: '{}' },
      { role: 'user', content: [{ type: 'input_text', text: 'before' }] },
      { type: 'function_call_output', call_id: 'a', output: '[tool error] gone' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'x' }, picture] },
      { role: 'user', content: [{ type: 'input_text', text: 'after' }] },
      { role: 'developer', content: [{ type: 'input_text', text: 'later' }] },
    ])
  })

  it('sends files', async () => {
    const { body } = await sent({ messages: [say('user', pdf)] })
    assert.deepEqual(body['input'], [
      {
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' }],
      },
    ])
  })

  it('always sends strict for tools', async () => {
    const { body } = await sent({
      tools: [tool('f'), tool('g', { strict: true })],
      toolChoice: { type: 'tool', name: 'g' },
      parallelToolCalls: false,
    })
    assert.deepEqual(
      (body['tools'] as { strict: boolean }[]).map(({ strict }) => strict),
      [false, true],
    )
    assert.deepEqual(body['tool_choice'], { type: 'function', name: 'g' })
    assert.equal(body['parallel_tool_calls'], false)
  })

  it('raises the token limit to the vendor’s minimum', async () => {
    assert.equal((await sent({}, { maxOutputTokens: 1 })).body['max_output_tokens'], 16)
  })

  it('requests a summary if the caller wants to see the thinking', async () => {
    const visible = await sent({ reasoning: { budgetTokens: 4_000, visible: true } }, { model: 'gpt-5' })
    assert.deepEqual(visible.body['reasoning'], { effort: 'medium', summary: 'auto' })
    const hidden = await sent({ reasoning: { effort: 'low' } }, { model: 'gpt-5' })
    assert.deepEqual(hidden.body['reasoning'], { effort: 'low' })
  })

  it('converts fields that chat and responses share', async () => {
    const request = requestBy(
      'chat',
      { outputFormat: { type: 'json-object' } },
      { verbosity: 'low', prompt_cache_key: 'k', service_tier: 'flex', seed: 3 },
    )
    const { body, dropped } = await sentTo('openai-responses', request)
    assert.deepEqual(body['text'], { format: { type: 'json_object' }, verbosity: 'low' })
    assert.deepEqual([body['prompt_cache_key'], body['service_tier']], ['k', 'flex'])
    assert.deepEqual(dropped, ['seed'])
  })

  it('converts web search tools for the vendor only', async () => {
    const search: Tool = {
      type: 'opaque',
      dialect: 'messages',
      name: 'web_search',
      raw: { type: 'web_search_20250305' },
    }
    const overrides = { tools: [search], toolChoice: { type: 'tool', name: 'web_search' } } as const
    const vendor = await sent(overrides, { settings: { baseUrl: 'https://api.openai.com/v1' } })
    assert.deepEqual(vendor.body['tools'], [{ type: 'web_search' }])
    assert.deepEqual(vendor.body['tool_choice'], { type: 'web_search' })
    assert.deepEqual((await sent({ tools: [search, tool('f')] })).dropped, ['tools.web_search'])
  })
})

describe('a Responses caller at a Responses upstream', () => {
  it('gets every field passed through except the gateway’s own, with the upstream’s model name and limit', async () => {
    const body = { model: 'default-model', input: 'hi', truncation: 'auto', flagged_categories: ['hate'], store: true }
    const { body: sentOn, dropped } = await sentTo('openai-responses', requestBy('responses', {}, body), {
      model: 'm',
      maxOutputTokens: 9,
    })
    assert.deepEqual(sentOn, { model: 'm', input: 'hi', truncation: 'auto', store: true, max_output_tokens: 9 })
    assert.deepEqual(dropped, [])
  })
})
