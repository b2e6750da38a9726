import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calls, image, pdf, refusedBy, result, say, sentTo, tool } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { InferenceRequest } from '../../../domain/inference/request.ts'

const sent = (overrides: Partial<InferenceRequest>, more = {}) =>
  sentTo('anthropic', requestBy('chat', overrides), more)

const messagesOf = async (...messages: InferenceRequest['messages']) => (await sent({ messages })).body['messages']

describe('a request to a Messages upstream', () => {
  it('is sent to the right URL with the right headers', async () => {
    const { url, headers } = await sent({})
    assert.equal(url, 'https://upstream.test/v1/messages')
    assert.equal(headers['x-api-key'], 'key')
    assert.equal(headers['anthropic-version'], '2023-06-01')
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['authorization'], undefined)
  })

  it('has all required fields', async () => {
    const { body } = await sent({}, { model: 'claude-x', maxOutputTokens: 77 })
    assert.deepEqual(body, {
      model: 'claude-x',
      max_tokens: 77,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      stream: true,
    })
  })

  it('collects all system text in order, including later messages', async () => {
    const { body } = await sent({ messages: [say('system', 'one'), say('user', 'hi'), say('system', 'two')] })
    assert.deepEqual(body['system'], [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ])
    assert.equal((body['messages'] as unknown[]).length, 1)
  })

  it('joins the results of parallel calls and the text after them into one message, results first', async () => {
    const messages = await messagesOf(
      say('user', 'go'),
      say('assistant', '', calls('a', 'read', '{"path":"x"}'), calls('b', 'read', '')),
      say('user', 'hurry', result('a', 'one')),
      say('user', result('b', image)),
    )
    assert.deepEqual(messages, [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'read', input: { path: 'x' } },
          { type: 'tool_use', id: 'b', name: 'read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'one' }] },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }],
          },
          { type: 'text', text: 'hurry' },
        ],
      },
    ])
  })

  it('drops empty and blank text, and messages with nothing else', async () => {
    const messages = await messagesOf(say('user', 'a'), say('assistant', '  '), say('user', '', 'b', ' '))
    assert.deepEqual(messages, [
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: ' ' },
        ],
      },
    ])
  })

  it('keeps a prefill, without trailing white space', async () => {
    const messages = await messagesOf(say('user', 'a'), say('assistant', 'Once upon '))
    assert.deepEqual((messages as unknown[]).at(-1), {
      role: 'assistant',
      content: [{ type: 'text', text: 'Once upon' }],
    })
  })

  it('keeps invalid JSON arguments, so that the history can still be sent', async () => {
    const messages = await messagesOf(say('assistant', calls('a', 'f', 'not json')), say('user', result('a', 'r')))
    assert.match(JSON.stringify(messages), /"input":\{"_raw":"not json"\}/)
  })

  it('adds results for calls without one, and drops results without a call', async () => {
    const { body, dropped } = await sent({
      messages: [say('user', result('ghost', 'boo'), 'hi'), say('assistant', calls('a', 'f'))],
    })
    assert.deepEqual(body['messages'], [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '[no result]' }] }],
      },
    ])
    assert.deepEqual(dropped, ['tool_result'])
  })

  it('replaces ids and names that the vendor rejects, consistently for call and result', async () => {
    const id = `call:${'x'.repeat(80)}`
    const { body } = await sent({
      messages: [say('assistant', calls(id, 'my.tool')), say('user', result(id, 'r'))],
      tools: [tool('my.tool')],
      toolChoice: { type: 'tool', name: 'my.tool' },
    })
    const [assistant, user] = body['messages'] as { content: Record<string, string>[] }[]
    const called = assistant?.content[0]
    assert.match(called?.['id'] ?? '', /^call_[0-9a-f]{24}$/)
    assert.equal(user?.content[0]?.['tool_use_id'], called?.['id'])
    assert.match(called?.['name'] ?? '', /^my_tool_[0-9a-f]{12}$/)
    assert.deepEqual(body['tool_choice'], { type: 'tool', name: called?.['name'] })
  })

  it('accepts images, PDFs and text files', async () => {
    const url = { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } } as const
    const note = { type: 'file', name: 'n', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' } } as const
    const messages = await messagesOf(say('user', url, pdf, note))
    assert.deepEqual(messages, [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' }, title: 'n' },
        ],
      },
    ])
  })

  it('rejects unsupported content and names it', async () => {
    const tiff = { type: 'image', source: { kind: 'base64', mediaType: 'image/tiff', data: '' } } as const
    const upload = { type: 'file', source: { kind: 'file', id: 'file-1' } } as const
    const audio = { type: 'opaque', dialect: 'chat', raw: { type: 'input_audio' } } as const
    for (const [part, names] of [
      [tiff, /image\/tiff/],
      [upload, /files by id/],
      [audio, /input_audio/],
    ] as const) {
      const fault = await refusedBy('anthropic', requestBy('chat', { messages: [say('user', part)] }))
      assert.equal(fault.code, 'unsupported_parameter')
      assert.equal(fault.details.param, 'messages')
      assert.match(fault.message, names)
    }
  })

  it('reports dropped blocks of another dialect in earlier model output', async () => {
    const searched = { type: 'opaque', dialect: 'responses', raw: { type: 'web_search_call' } } as const
    const { dropped } = await sentTo(
      'anthropic',
      requestBy('responses', { messages: [say('assistant', searched, 'so'), say('user', 'and')] }),
    )
    assert.deepEqual(dropped, ['web_search_call'])
  })

  it('caps temperature, and omits sampling parameters for models that reject them', async () => {
    const tuned = { temperature: 1.7, topP: 0.5, topK: 3 }
    const { body } = await sent(tuned, { model: 'claude-sonnet-4-5' })
    assert.deepEqual([body['temperature'], body['top_p'], body['top_k']], [1, 0.5, 3])
    const newer = await sent(tuned, { model: 'claude-opus-4-7' })
    assert.equal(newer.body['temperature'], undefined)
    assert.deepEqual(newer.dropped, ['temperature', 'top_p', 'top_k'])
  })

  it('sends stop strings, and scans for blank ones', async () => {
    const request = requestBy('chat', { stop: ['END', '\n\n'] })
    assert.deepEqual((await sentTo('anthropic', request)).body['stop_sequences'], ['END'])
  })

  it('sends tools, tool choice and serial calls', async () => {
    const overrides = {
      tools: [tool('f', { description: 'd', parameters: { $schema: 'x' } })],
      parallelToolCalls: false,
    }
    const { body } = await sent(overrides)
    assert.deepEqual(body['tools'], [{ name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } }])
    assert.deepEqual(body['tool_choice'], { type: 'auto', disable_parallel_tool_use: true })
    const choice = async (type: 'auto' | 'required' | 'none') =>
      (await sent({ ...overrides, parallelToolCalls: true, toolChoice: { type } })).body['tool_choice']
    assert.deepEqual(await choice('required'), { type: 'any' })
    assert.deepEqual(await choice('none'), { type: 'none' })
    assert.deepEqual(await choice('auto'), { type: 'auto' })
  })

  it('rejects tools that another vendor runs, and sends free-text tools as functions', async () => {
    const hosted = { type: 'opaque', dialect: 'responses', name: 'file_search', raw: { type: 'file_search' } } as const
    assert.equal((await refusedBy('anthropic', requestBy('responses', { tools: [hosted] }))).details.param, 'tools')
    const patch = {
      type: 'opaque',
      dialect: 'responses',
      name: 'patch',
      raw: { type: 'custom', name: 'patch', description: 'p' },
    } as const
    const called = {
      type: 'opaque',
      dialect: 'responses',
      raw: { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'x"y' },
    } as const
    const done = {
      type: 'opaque',
      dialect: 'responses',
      raw: { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
    } as const
    const { body } = await sent({ tools: [patch], messages: [say('assistant', called), say('user', done)] })
    assert.deepEqual(body['tools'], [
      {
        name: 'patch',
        description: 'p',
        input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      },
    ])
    assert.match(JSON.stringify(body['messages']), /"input":\{"input":"x\\"y"\}/)
    assert.match(JSON.stringify(body['messages']), /"tool_use_id":"c","content":\[\{"type":"text","text":"ok"\}\]/)
  })

  it('sends cache markers, and caps their lifetime', async () => {
    const marked = { type: 'text', text: 'a', cache: { ttl: '12h' } } as const
    const messages = await messagesOf(say('user', marked, { type: 'text', text: 'b', cache: {} }))
    assert.deepEqual(messages, [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
          { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
        ],
      },
    ])
  })

  it('reports fields that only affect quality, and rejects fields that the response depends on', async () => {
    const lossy = requestBy(
      'chat',
      {},
      { seed: 7, logit_bias: { 1: 2 }, presence_penalty: 0, n: 1, service_tier: 'auto' },
    )
    assert.deepEqual((await sentTo('anthropic', lossy)).dropped, ['seed', 'logit_bias'])
    const response = requestBy(
      'responses',
      {},
      { truncation: 'auto', service_tier: 'auto', text: { verbosity: 'low' } },
    )
    assert.deepEqual((await sentTo('anthropic', response)).dropped, ['truncation', 'text.verbosity'])
    for (const field of [{ n: 2 }, { logprobs: true }, { modalities: ['text', 'audio'] }]) {
      const fault = await refusedBy('anthropic', requestBy('chat', {}, field))
      assert.equal(fault.details.param, Object.keys(field)[0])
    }
  })
})

describe('thinking on a Messages upstream', () => {
  const thinkingOf = async (overrides: Partial<InferenceRequest>, more = {}) => {
    const { body, dropped } = await sent(overrides, { model: 'claude-sonnet-4-5', ...more })
    return { thinking: body['thinking'], output: body['output_config'], dropped, temperature: body['temperature'] }
  }

  const reasoning = { effort: 'high' } as const
  const enabled = (budget: number) => ({ type: 'enabled', budget_tokens: budget })

  it('is requested by budget on older models, at most half of the caller’s token limit', async () => {
    const within = async (limit: number): Promise<unknown> =>
      (await thinkingOf({ reasoning, maxOutputTokens: limit }, { maxOutputTokens: limit })).thinking
    assert.deepEqual(await within(64_000), enabled(16_384))
    assert.deepEqual(await within(20_000), enabled(10_000))
    assert.deepEqual(await within(8_192), enabled(4_096))
    assert.equal(await within(2_000), undefined)
    assert.deepEqual((await thinkingOf({ reasoning: { effort: 'none' } })).thinking, undefined)
  })

  it('leaves the default limit to the answer if the caller set none', async () => {
    const { body } = await sent({ reasoning }, { model: 'claude-sonnet-4-5', maxOutputTokens: 16_384 + 8_192 })
    assert.deepEqual([body['max_tokens'], body['thinking']], [24_576, enabled(16_384)])
  })

  it('stays within the longest answer of the model if the caller set no limit', async () => {
    const max = { reasoning: { effort: 'max' } } as const
    const limits: Readonly<Record<string, number>> = {
      'claude-sonnet-4-5': 64_000,
      'claude-opus-4-5': 64_000,
      'claude-opus-4-1-20250805': 32_000,
      'claude-opus-4-20250514': 32_000,
      'claude-opus-4-6': 73_728,
    }
    for (const [model, limit] of Object.entries(limits))
      assert.equal((await sent(max, { model, maxOutputTokens: 73_728 })).body['max_tokens'], limit, model)
    const { body } = await sent(max, { model: 'claude-opus-4-1', maxOutputTokens: 73_728 })
    assert.deepEqual(body['thinking'], enabled(32_000 - 8_192))
  })

  it('is requested by effort on newer models', async () => {
    const { thinking, output } = await thinkingOf({ reasoning: { effort: 'minimal' } }, { model: 'claude-opus-4-6' })
    assert.deepEqual(thinking, { type: 'adaptive' })
    assert.deepEqual(output, { effort: 'low' })
  })

  it('is dropped and reported if the vendor would reject it', async () => {
    const low = { effort: 'low' } as const
    const forced = await thinkingOf({ reasoning: low, tools: [tool('f')], toolChoice: { type: 'required' } })
    const tiny = await thinkingOf({ reasoning: low }, { maxOutputTokens: 500 })
    const inLoop = await thinkingOf({
      reasoning: low,
      messages: [say('user', 'x'), say('assistant', calls('a', 'f')), say('user', result('a', 'r'))],
    })
    for (const each of [forced, tiny, inLoop]) {
      assert.equal(each.thinking, undefined)
      assert.deepEqual(each.dropped, ['reasoning_effort'])
    }
  })

  it('omits sampling parameters', async () => {
    const { temperature, dropped } = await thinkingOf({ reasoning: { effort: 'low' }, temperature: 0.2 })
    assert.equal(temperature, undefined)
    assert.deepEqual(dropped, ['temperature'])
  })
})

describe('structured output on a Messages upstream', () => {
  const formatOf = async (schema: Record<string, unknown>) =>
    (await sent({ outputFormat: { type: 'json-schema', name: 'o', schema } })).body['output_config']

  it('is a schema without unsupported keywords, which move into the description', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: true,
      required: ['age'],
      properties: {
        age: { type: 'integer', minimum: 0, description: 'In years.' },
        name: { oneOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] },
        when: { type: 'string', format: 'date' },
        tags: { type: 'array', minItems: 2, items: { type: 'object', properties: {} } },
        home: { type: ['object', 'null'], properties: { street: { type: 'string' } }, additionalProperties: false },
      },
    }
    assert.deepEqual(await formatOf(schema), {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['age'],
          properties: {
            age: { type: 'integer', description: 'In years.\n\n{minimum: 0}' },
            name: { anyOf: [{ type: 'string', description: '{maxLength: 5}' }, { type: 'null' }] },
            when: { type: 'string', format: 'date' },
            tags: {
              type: 'array',
              items: { type: 'object', properties: {}, additionalProperties: false },
              description: '{minItems: 2}',
            },
            home: {
              type: ['object', 'null'],
              properties: { street: { type: 'string' } },
              additionalProperties: false,
            },
          },
        },
      },
    })
  })

  it('is requested by an instruction if there is no schema', async () => {
    const { body, dropped } = await sent({ outputFormat: { type: 'json-object' } })
    assert.match(JSON.stringify(body['system']), /one JSON object/)
    assert.deepEqual(dropped, ['response_format'])
  })
})

describe('a Messages caller at a Messages upstream', () => {
  it('gets every field passed through except the gateway’s own, with the upstream’s model name and limit', async () => {
    const body = {
      model: 'default-model',
      max_tokens: 9_999,
      future_field: { a: 1 },
      flagged_categories: ['hate'],
      messages: [],
    }
    const headers = { 'anthropic-beta': 'new-thing', 'anthropic-version': '2026-10-21' }
    const request = { ...requestBy('messages'), raw: { ...requestBy('messages').raw, body, headers } }
    const sentOn = await sentTo('anthropic', request, { model: 'claude-x', maxOutputTokens: 100 })
    assert.deepEqual(sentOn.body, { model: 'claude-x', max_tokens: 100, future_field: { a: 1 }, messages: [] })
    assert.equal(sentOn.headers['anthropic-beta'], 'new-thing')
    assert.equal(sentOn.headers['anthropic-version'], '2026-10-21')
  })

  it('loses the billing line of agents, except at the vendor', async () => {
    const line = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2;' }
    const request = requestBy('messages', {}, { system: [line, { type: 'text', text: 'Be brief.' }] })
    const system = async (baseUrl: string) =>
      (await sentTo('anthropic', request, { settings: { baseUrl } })).body['system']
    assert.equal(JSON.stringify(await system('http://127.0.0.1:8080')), '[{"type":"text","text":"Be brief."}]')
    assert.match(JSON.stringify(await system('https://api.anthropic.com')), /billing/)
  })

  it('may send a temperature above the vendor’s maximum', async () => {
    const { body } = await sentTo('anthropic', requestBy('messages', {}, { messages: [], temperature: 1.5 }))
    assert.equal(body['temperature'], 1)
  })

  it('need not send a token limit', async () => {
    const { body } = await sentTo('anthropic', requestBy('messages', {}, { messages: [] }), { maxOutputTokens: 55 })
    assert.equal(body['max_tokens'], 55)
  })
})
