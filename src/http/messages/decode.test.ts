import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import { createValidator } from '../validate.ts'
import { decodeCountTokens, decodeMessages } from './decode.ts'
import { CountTokensBody, MessagesBody } from './schema.ts'

const validate = createValidator(MessagesBody)
const decode = (body: object, headers = {}) =>
  decodeMessages(validate({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }), headers)
const partsOf = (content: unknown, role = 'user') => decode({ messages: [{ role, content }] }).messages[0]?.parts

const faultOf = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof Fault)
    return [error.kind, error.details.param, error.message]
  }
  return assert.fail('nothing was rejected')
}

/** A request of Claude Code, shortened. */
const claudeCode = {
  model: 'default-model',
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;' },
    { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'read a' }] },
    { role: 'system', content: 'The date is today.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: '' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: 'no file',
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
  tools: [
    {
      name: 'Read',
      description: 'Reads a file.',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { path: { type: 'string' } },
      },
    },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: '{"device":"d","session":"s"}' },
}

describe('decoding a request of Claude Code', () => {
  const request = decodeMessages(validate(claudeCode), {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27',
    authorization: 'Bearer secret',
  })

  it('keeps the order of the conversation, also of system messages in the middle', () => {
    assert.deepEqual(request.messages, [
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli;' },
          { type: 'text', text: 'You are an agent.', cache: { ttl: '1h' } },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'read a' }] },
      { role: 'system', parts: [{ type: 'text', text: 'The date is today.' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: 'Let me see.' },
          { type: 'text', text: 'Reading.' },
          { type: 'tool-call', id: 'toolu_1', name: 'Read', input: '{"path":"a"}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', id: 'toolu_1', parts: [{ type: 'text', text: 'no file' }], isError: true, cache: {} },
        ],
      },
    ])
  })

  it('decodes its settings', () => {
    const { messages, raw } = request
    assert.deepEqual(request, {
      messages,
      raw,
      model: 'default-model',
      stream: true,
      stop: [],
      flaggedCategories: [],
      maxOutputTokens: 32_000,
      user: '{"device":"d","session":"s"}',
      tools: [
        {
          type: 'function',
          name: 'Read',
          description: 'Reads a file.',
          parameters: { type: 'object', properties: { path: { type: 'string' } } },
        },
        {
          type: 'opaque',
          dialect: 'messages',
          name: 'web_search',
          raw: { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
        },
      ],
      toolChoice: { type: 'auto' },
      parallelToolCalls: false,
      reasoning: { visible: true, effort: 'high' },
    })
  })

  it('keeps the raw body for an upstream of the same dialect, without the edit that the gateway handles and unsigned thinking', () => {
    const { dialect, body, headers } = request.raw
    assert.equal(dialect, 'messages')
    const [first, second, third, fourth] = claudeCode.messages
    assert.ok(third && Array.isArray(third.content))
    const expected: Record<string, unknown> = {
      ...claudeCode,
      messages: [first, second, { ...third, content: third.content.slice(1) }, fourth],
    }
    delete expected['context_management']
    assert.deepEqual(body, expected)
    assert.deepEqual(headers, {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27',
    })
  })
})

describe('decoding a messages body', () => {
  it('needs only a model and a message', () => {
    const request = decode({})
    assert.deepEqual(request, {
      raw: request.raw,
      model: 'm',
      stream: false,
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      stop: [],
      tools: [],
      flaggedCategories: [],
    })
  })

  it('decodes the simple settings', () => {
    const request = decode({
      system: 'Be brief.',
      temperature: 2,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ['END'],
      flagged_categories: ['hate'],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
      unknown_field: 1,
    })
    assert.deepEqual(request.messages[0], { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] })
    assert.deepEqual([request.temperature, request.topP, request.topK, request.stop], [2, 0.5, 3, ['END']])
    assert.deepEqual(request.flaggedCategories, ['hate'])
    assert.deepEqual(request.outputFormat, { type: 'json-schema', name: 'output', schema: { type: 'object' } })
    assert.deepEqual(request.reasoning, { visible: false, budgetTokens: 1024 })
    assert.equal(request.raw.body['unknown_field'], 1)
    assert.ok(!('flagged_categories' in request.raw.body), 'our own field goes no further')
  })

  it('accepts a thinking budget above max_tokens with interleaved thinking', () => {
    const body = { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 16_000 } }
    const { reasoning } = decode(body, { 'anthropic-beta': 'x,interleaved-thinking-2025-05-14' })
    assert.equal(reasoning?.budgetTokens, 16_000)
  })

  it('decodes disabled thinking', () => {
    assert.deepEqual(decode({ thinking: { type: 'disabled' } }).reasoning, { effort: 'none' })
  })

  it('decodes images and documents, inline and by URL', () => {
    assert.deepEqual(
      partsOf([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
        { type: 'document', title: 'T', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' } },
        { type: 'document', source: { type: 'file', file_id: 'file_1' } },
        {
          type: 'document',
          source: {
            type: 'content',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        },
        { type: 'search_result', source: 'https://s', title: 'S', content: [{ type: 'text', text: 'found' }] },
      ]),
      [
        { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } },
        { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' }, name: 'T' },
        { type: 'file', source: { kind: 'text', text: 'plain' } },
        { type: 'file', source: { kind: 'file', id: 'file_1' } },
        { type: 'file', source: { kind: 'text', text: 'a\nb' } },
        { type: 'file', source: { kind: 'text', text: 'https://s\nfound' }, name: 'S' },
      ],
    )
  })

  it('describes the result of a tool search as text', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'fetch' }] }
    assert.deepEqual(partsOf([result]), [
      {
        type: 'tool-result',
        id: 'a',
        parts: [{ type: 'text', text: 'The tool fetch can be called now.' }],
        isError: false,
      },
    ])
  })

  it('keeps blocks that only this dialect has unchanged', () => {
    const raw = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } }
    const mixed = { type: 'document', source: { type: 'content', content: [{ type: 'image', source: {} }] } }
    assert.deepEqual(partsOf([raw, mixed], 'assistant'), [
      { type: 'opaque', dialect: 'messages', raw, isToolCall: true },
      { type: 'opaque', dialect: 'messages', raw: mixed },
    ])
  })

  it('decodes the signatures of thinking, plain ones and those in an envelope for another dialect', () => {
    const foreign = { format: 'responses', value: 'enc', id: 'rs_1' } as const
    const wrapped = signatureText(foreign, 'messages')
    const request = decode({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: 'sig' },
            { type: 'thinking', thinking: 'b', signature: wrapped },
            { type: 'thinking', thinking: 'c', signature: 'gw1.nonsense' },
            { type: 'redacted_thinking', data: 'hidden' },
          ],
        },
      ],
    })
    assert.deepEqual(request.messages[0]?.parts, [
      { type: 'thinking', text: 'a', signature: { format: 'messages', value: 'sig' } },
      { type: 'thinking', text: 'b', signature: foreign },
      { type: 'thinking', text: 'c' },
      { type: 'thinking', text: '', signature: { format: 'messages', value: 'hidden', redacted: true } },
    ])
    const kept = [
      { type: 'thinking', thinking: 'a', signature: 'sig' },
      { type: 'redacted_thinking', data: 'hidden' },
    ]
    assert.deepEqual(
      request.raw.body['messages'],
      [{ role: 'assistant', content: kept }],
      'an upstream gets only what it signed',
    )
  })

  it('passes on edits that the gateway does not handle', () => {
    const other = { type: 'clear_tool_uses_20250919' }
    const { raw } = decode({
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }, other] },
    })
    assert.deepEqual(raw.body['context_management'], { edits: [other] })
  })

  const rejected: readonly [name: string, body: object, param: string, message: string][] = [
    [
      'a thinking budget of max_tokens or more',
      { max_tokens: 10, thinking: { type: 'enabled', budget_tokens: 10 } },
      'thinking.budget_tokens',
      'must be less than max_tokens',
    ],
    [
      'a forced tool without a name',
      { tools: [{ name: 'a', input_schema: {} }], tool_choice: { type: 'tool' } },
      'tool_choice.name',
      'is required',
    ],
    [
      'a forced tool that is not in the list',
      { tool_choice: { type: 'tool', name: 'b' } },
      'tool_choice.name',
      'names no tool of this request',
    ],
    ['no messages', { messages: [] }, 'messages', 'must have at least 1 item'],
    [
      'an unknown role',
      { messages: [{ role: 'tool', content: '' }] },
      'messages[0].role',
      'must be one of "user", "assistant" or "system"',
    ],
    [
      'a block without its text',
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
      'is required',
    ],
    [
      'a block without a type',
      { messages: [{ role: 'user', content: [{ text: 'x' }] }] },
      'messages[0].content[0].type',
      'is required',
    ],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools[0].input_schema', 'is required'],
    ['an output limit of 0', { max_tokens: 0 }, 'max_tokens', 'must be at least 1'],
    ['a temperature over 2', { temperature: 2.1 }, 'temperature', 'must be at most 2'],
    [
      'an unknown category',
      { flagged_categories: ['rude'] },
      'flagged_categories[0]',
      'must be one of "harassment", "hate", "illicit" or "sexual"',
    ],
  ]
  for (const [name, body, param, message] of rejected) {
    it(`rejects ${name}`, () =>
      assert.deepEqual(
        faultOf(() => decode(body)),
        ['validation', param, `${param}: ${message}`],
      ))
  }
})

describe('decoding a count_tokens body', () => {
  const count = createValidator(CountTokensBody)

  it('gives a message without a role the role user', () => {
    const request = decodeCountTokens(count({ model: 'm', messages: [{ content: 'Hi' }], system: 'S' }), {})
    assert.deepEqual(
      request.messages.map(({ role }) => role),
      ['system', 'user'],
    )
    assert.equal(request.stream, false)
  })

  it('rejects an empty model, an empty list and a message without content', () => {
    assert.deepEqual(
      faultOf(() => count({ model: '', messages: [] })),
      ['validation', 'model', 'model: must not be empty; messages: must have at least 1 item'],
    )
    assert.deepEqual(
      faultOf(() => count({ model: 'm', messages: [{}] })),
      ['validation', 'messages[0].content', 'messages[0].content: is required'],
    )
  })
})
