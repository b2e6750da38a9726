import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calls, image, pdf, refusedBy, result, say, sentTo, tool } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { InferenceRequest, Tool } from '../../../domain/inference/request.ts'
import type { ChatOverrides, ChatServer } from './servers.ts'

const openai = { settings: { baseUrl: 'https://api.openai.com/v1' } }

const at = (server: ChatServer, chatOverrides: ChatOverrides = {}) => ({ settings: { server, chatOverrides } })

const sent = (overrides: Partial<InferenceRequest>, more = {}) =>
  sentTo('openai-chat', requestBy('messages', overrides), more)

describe('a request to a chat upstream', () => {
  it('is sent to the right URL with the right headers', async () => {
    const { url, headers } = await sent({}, { settings: { baseUrl: 'http://127.0.0.1:11434/v1/' } })
    assert.equal(url, 'http://127.0.0.1:11434/v1/chat/completions')
    assert.equal(headers['authorization'], 'Bearer key')
  })

  it('matches the worked example of one turn', async () => {
    const failed = { ...result('toolu_1', 'no file'), isError: true }
    const { body } = await sent(
      {
        messages: [
          say('system', 'x-anthropic-billing-header: cc_version=2;', 'Be brief.'),
          say('user', 'read a'),
          say('assistant', { type: 'thinking', text: '..' }, calls('toolu_1', 'read', '{"p":"a"}')),
          say('user', 'and hurry', failed),
        ],
        tools: [tool('read', { parameters: { type: 'object', properties: { p: { type: 'string' } } } })],
        toolChoice: { type: 'required' },
        parallelToolCalls: false,
        stop: ['END'],
      },
      { ...openai, model: 'm', maxOutputTokens: 900 },
    )
    assert.deepEqual(body, {
      model: 'm',
      max_completion_tokens: 900,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'read a' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'read', arguments: '{"p":"a"}' } }],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: '[tool error] no file' },
        { role: 'user', content: 'and hurry' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'read', parameters: { type: 'object', properties: { p: { type: 'string' } } } },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('moves images of tool results into one user message after all tool messages', async () => {
    const { body } = await sent({
      messages: [
        say('assistant', calls('a', 'f'), calls('b', 'f')),
        say('user', result('a', 'text', image), result('b', image), 'look'),
      ],
    })
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }
    assert.deepEqual((body['messages'] as unknown[]).slice(1), [
      { role: 'tool', tool_call_id: 'a', content: 'text\n\n[image: see the next user message]' },
      { role: 'tool', tool_call_id: 'b', content: '[image: see the next user message]' },
      { role: 'user', content: [url, url, { type: 'text', text: 'look' }] },
    ])
  })

  it('places later system text where the server accepts it', async () => {
    const silent = say('system', '')
    const messages = [say('system', 'one'), say('user', 'hi'), say('system', 'two'), say('assistant', 'yo'), silent]
    const sentWith = async (more: object) =>
      ((await sent({ messages }, more)).body['messages'] as { role: string; content: string }[]).map(
        ({ role, content }) => `${role}: ${content}`,
      )
    assert.deepEqual(await sentWith(openai), ['system: one', 'user: hi', 'system: two', 'assistant: yo'])
    assert.deepEqual(await sentWith({}), ['system: one\n\ntwo', 'user: hi', 'assistant: yo'])
  })

  it('rejects a tool result that it could send only in part', async () => {
    const foreign = { type: 'opaque', dialect: 'messages', raw: { type: 'something_new' } } as const
    const messages = [say('assistant', calls('a', 'f')), say('user', result('a', 'text', foreign))]
    const fault = await refusedBy('openai-chat', requestBy('messages', { messages }))
    assert.match(fault.message, /something_new/)
  })

  it('puts nothing between a call and its result', async () => {
    const messages = [say('assistant', calls('a', 'f')), say('system', 'now'), say('user', result('a', 'r'))]
    const { body } = await sent({ messages }, openai)
    assert.deepEqual(
      (body['messages'] as { role: string }[]).map(({ role }) => role),
      ['assistant', 'tool', 'system'],
    )
  })

  it('sends max_tokens and top_k to open-source servers, and neither to OpenAI', async () => {
    const open = await sent({ topK: 3 })
    assert.deepEqual([open.body['max_tokens'], open.body['top_k']], [4096, 3])
    const vendor = await sent({ topK: 3 }, openai)
    assert.deepEqual([vendor.body['max_completion_tokens'], vendor.body['top_k']], [4096, undefined])
    assert.deepEqual(vendor.dropped, ['top_k'])
  })

  it('sends an effort only to servers that accept one', async () => {
    const reasoning = { budgetTokens: 30_000 }
    assert.equal((await sent({ reasoning }, openai)).body['reasoning_effort'], 'xhigh')
    const open = await sent({ reasoning })
    assert.equal(open.body['reasoning_effort'], undefined)
    assert.deepEqual(open.dropped, ['thinking'])
    const permitted = await sent({ reasoning }, { settings: { chatOverrides: { takesEffort: true } } })
    assert.equal(permitted.body['reasoning_effort'], 'xhigh')
    const ollama = await sent({ reasoning }, at('ollama', { takesEffort: true }))
    assert.equal(ollama.body['reasoning_effort'], 'high')
    const forbidden = await sent({ reasoning }, at('vllm', { takesEffort: false }))
    assert.equal(forbidden.body['reasoning_effort'], undefined)
  })

  it('omits temperature for models that reject it', async () => {
    const { body, dropped } = await sent({ temperature: 0.3 }, { ...openai, model: 'gpt-5-mini' })
    assert.equal(body['temperature'], undefined)
    assert.deepEqual(dropped, ['temperature'])
  })

  it('sends thinking back only to servers that accept it', async () => {
    const messages = [say('assistant', { type: 'thinking', text: 'hm' }, 'so'), say('user', 'go')]
    const first = async (more: object) => ((await sent({ messages }, more)).body['messages'] as unknown[])[0]
    const takesReasoning = { settings: { chatOverrides: { takesReasoning: true } } }
    const answer = { role: 'assistant', content: 'so' }
    assert.deepEqual(await first({}), answer)
    assert.deepEqual(await first(takesReasoning), { ...answer, reasoning_content: 'hm' })
    assert.deepEqual(await first(at('ollama', { takesReasoning: true })), { ...answer, reasoning: 'hm' })
  })

  it('sends PDFs to OpenAI and rejects them for open-source servers, but never plain text', async () => {
    const { body } = await sent({ messages: [say('user', pdf)] }, openai)
    assert.deepEqual(body['messages'], [
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } }],
      },
    ])
    const fault = await refusedBy('openai-chat', requestBy('messages', { messages: [say('user', pdf)] }))
    assert.equal(fault.code, 'unsupported_parameter')
    const note = { type: 'file', name: 'n.txt', source: { kind: 'text', text: 'hi' } } as const
    assert.deepEqual((await sent({ messages: [say('user', note)] })).body['messages'], [
      { role: 'user', content: 'n.txt\n\nhi' },
    ])
  })

  it('shortens the user id', async () => {
    const { body } = await sent({ user: JSON.stringify({ device_id: 'x'.repeat(150) }) })
    assert.match(String(body['user']), /^[0-9a-f]{24}$/)
  })

  it('sends structured output', async () => {
    const schema = { type: 'object' }
    const { body } = await sent({ outputFormat: { type: 'json-schema', name: 'o', schema, strict: true } })
    assert.deepEqual(body['response_format'], { type: 'json_schema', json_schema: { name: 'o', schema, strict: true } })
    assert.deepEqual((await sent({ outputFormat: { type: 'json-object' } })).body['response_format'], {
      type: 'json_object',
    })
  })

  it('scans for the stop strings beyond the vendor’s limit', async () => {
    const stop = ['1', '2', '3', '4', '5']
    assert.deepEqual((await sent({ stop }, openai)).body['stop'], ['1', '2', '3', '4'])
    assert.deepEqual((await sent({ stop })).body['stop'], stop)
  })
})

describe('tools that the Messages vendor runs itself', () => {
  const search: Tool = {
    type: 'opaque',
    dialect: 'messages',
    name: 'web_search',
    raw: { type: 'web_search_20250305', name: 'web_search' },
  }

  it('are dropped, together with a tool choice that names them', async () => {
    const { body, dropped } = await sent({
      tools: [search, tool('f')],
      toolChoice: { type: 'tool', name: 'web_search' },
    })
    assert.equal((body['tools'] as unknown[]).length, 1)
    assert.equal(body['tool_choice'], 'auto')
    assert.deepEqual(dropped, ['tools.web_search', 'tool_choice'])
  })

  it('are dropped together with the tool choice if the model may call none', async () => {
    const { body } = await sent({ tools: [search], toolChoice: { type: 'none' }, parallelToolCalls: false })
    assert.deepEqual(
      [body['tools'], body['tool_choice'], body['parallel_tool_calls']],
      [undefined, undefined, undefined],
    )
  })

  it('are rejected if no other tool remains', async () => {
    for (const toolChoice of [{ type: 'auto' }, { type: 'required' }] as const) {
      const request = requestBy('messages', { tools: [search], toolChoice })
      assert.equal((await refusedBy('openai-chat', request)).details.param, 'tools')
    }
  })
})

describe('a chat caller at a chat upstream', () => {
  it('gets every field passed through except the gateway’s own, with usage requested', async () => {
    const body = {
      model: 'default-model',
      n: 2,
      seed: 1,
      stream: true,
      stream_options: { x: 1 },
      flagged_categories: [],
      max_tokens: 9_999,
    }
    const sentOn = await sentTo('openai-chat', requestBy('chat', {}, body), { model: 'm', maxOutputTokens: 100 })
    assert.deepEqual(sentOn.body, {
      model: 'm',
      n: 2,
      seed: 1,
      stream: true,
      stream_options: { x: 1, include_usage: true },
      max_tokens: 100,
    })
  })

  it('keeps the developer role for OpenAI only', async () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]
    const rolesAt = async (baseUrl: string) => {
      const { body } = await sentTo('openai-chat', requestBy('chat', {}, { messages }), { settings: { baseUrl } })
      return (body['messages'] as { role: string }[]).map(({ role }) => role)
    }
    assert.deepEqual(await rolesAt('https://api.openai.com/v1'), ['developer', 'user'])
    assert.deepEqual(await rolesAt('http://127.0.0.1:11434/v1'), ['system', 'user'])
  })

  it('gets a stream from the gateway if the server’s own streaming is disabled', async () => {
    const settings = { chatOverrides: { streams: false } }
    const sentOn = await sentTo('openai-chat', requestBy('chat', {}, { stream: true, stream_options: {} }), {
      settings,
    })
    assert.deepEqual(sentOn.body, { model: 'upstream-model', max_tokens: 4096, stream: false })
    assert.equal(sentOn.headers['accept'], 'application/json')
  })

  it('sends no stream options when nothing is streamed', async () => {
    const sentOn = await sentTo('openai-chat', requestBy('chat', { stream: false }, {}), openai)
    assert.deepEqual(sentOn.body, { model: 'upstream-model', max_completion_tokens: 4096 })
    assert.equal(sentOn.headers['accept'], 'application/json')
  })
})
