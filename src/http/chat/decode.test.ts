import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { createValidator } from '../validate.ts'
import { decodeChat } from './decode.ts'
import { ChatBody } from './schema.ts'
import { vendorFieldRoles } from '../../wire/field-roles.ts'

const validate = createValidator(ChatBody)
const decode = (body: object) =>
  decodeChat(validate({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }))

const faultOf = (body: object) => {
  try {
    decode(body)
  } catch (error) {
    assert.ok(error instanceof Fault)
    return [error.kind, error.code, error.message]
  }
  return assert.fail('nothing was rejected')
}

describe('decoding a chat body', () => {
  it('takes the user from the metadata if no other field names one', () => {
    const metadata = { user_id: 'u' }
    assert.equal(decodeChat(validate({ model: 'm', messages: [{ role: 'user', content: 'hi' }], metadata })).user, 'u')
  })
  it('decodes a turn with tools, as the SDKs send it', () => {
    const body = {
      model: 'default-model',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5,
      max_completion_tokens: 900,
      temperature: null,
      stop: 'END',
      user: 'u',
      safety_identifier: 's',
      metadata: { a: 'b' },
      reasoning_effort: 'low',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'read a and b' }] },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'Hm.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"p":"a"}' } },
            { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{"p":"b"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'A' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'B' }] },
      ],
      tools: [
        { type: 'function', function: { name: 'read', parameters: { $schema: 'x', type: 'object' }, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'read' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema: { type: 'object' }, strict: null } },
      seed: 7,
    }
    assert.deepEqual(decodeChat(validate(body)), {
      model: 'default-model',
      stream: true,
      maxOutputTokens: 900,
      stop: ['END'],
      user: 's',
      metadata: { a: 'b' },
      reasoning: { effort: 'low' },
      flaggedCategories: [],
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', parts: [{ type: 'text', text: 'read a and b' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'thinking', text: 'Hm.' },
            { type: 'tool-call', id: 'call_1', name: 'read', input: '{"p":"a"}' },
            { type: 'tool-call', id: 'call_2', name: 'read', input: '{"p":"b"}' },
          ],
        },
        {
          role: 'user',
          parts: [{ type: 'tool-result', id: 'call_1', parts: [{ type: 'text', text: 'A' }], isError: false }],
        },
        {
          role: 'user',
          parts: [{ type: 'tool-result', id: 'call_2', parts: [{ type: 'text', text: 'B' }], isError: false }],
        },
      ],
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object' }, strict: true }],
      toolChoice: { type: 'tool', name: 'read' },
      parallelToolCalls: false,
      outputFormat: { type: 'json-schema', name: 'out', schema: { type: 'object' } },
      raw: { dialect: 'chat', body, headers: {}, roles: vendorFieldRoles },
    })
  })

  it('decodes images and files from data URLs', () => {
    const { messages } = decode({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' } },
            { type: 'file', file: { file_data: 'CCCC' } },
            { type: 'file', file: { file_id: 'file_1' } },
            { type: 'text', text: 'look', prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } },
            { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } },
          ],
        },
      ],
    })
    assert.deepEqual(messages[0]?.parts, [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://x/y.png' } },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' }, name: 'a.pdf' },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'CCCC' } },
      { type: 'file', source: { kind: 'file', id: 'file_1' } },
      { type: 'text', text: 'look', cache: { ttl: '30m' } },
      { type: 'opaque', dialect: 'chat', raw: { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } } },
    ])
  })

  it('decodes Anthropic’s cache marker on a part, a message and a tool', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const cache = { ttl: '1h' }
    const { messages, tools } = decode({
      tools: [{ type: 'function', function: { name: 'f' }, cache_control }],
      messages: [
        { role: 'system', content: 'Be brief.', cache_control },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi', cache_control },
            { type: 'text', text: 'there' },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x', cache_control },
        { role: 'user', content: 'Go on', cache_control: 'no marker' },
      ],
    })
    assert.deepEqual(
      messages.map(({ parts }) => parts),
      [
        [{ type: 'text', text: 'Be brief.', cache }],
        [
          { type: 'text', text: 'Hi', cache },
          { type: 'text', text: 'there' },
        ],
        [{ type: 'tool-result', id: 'a', parts: [{ type: 'text', text: 'x' }], isError: false, cache }],
        [{ type: 'text', text: 'Go on' }],
      ],
    )
    assert.deepEqual(tools[0]?.type === 'function' && tools[0].cache, cache)
  })

  it('leaves out the tools that a choice does not allow', () => {
    const tool = (name: string) => ({ type: 'function', function: { name } })
    const { tools, toolChoice } = decode({
      tools: [tool('a'), tool('b')],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('b')] } },
    })
    assert.deepEqual(tools, [{ type: 'function', name: 'b', parameters: { type: 'object', properties: {} } }])
    assert.deepEqual(toolChoice, { type: 'required' })
  })

  it('keeps tools and calls of other types unchanged', () => {
    const tool = { type: 'custom', custom: { name: 'patch' } }
    const call = { id: 'c', type: 'custom', custom: { name: 'patch', input: '*' } }
    const request = decode({ tools: [tool], messages: [{ role: 'assistant', tool_calls: [call] }] })
    assert.deepEqual(request.tools, [{ type: 'opaque', dialect: 'chat', name: 'patch', raw: tool }])
    assert.deepEqual(request.messages[0]?.parts, [{ type: 'opaque', dialect: 'chat', raw: call, isToolCall: true }])
  })

  it('decodes a refusal as a part of its own', () => {
    const { messages } = decode({
      messages: [{ role: 'assistant', content: [{ type: 'text', text: 'a' }], refusal: 'No.' }],
    })
    assert.deepEqual(messages[0]?.parts, [
      { type: 'text', text: 'a' },
      { type: 'refusal', text: 'No.' },
    ])
  })

  it('removes the gateway’s own field from the raw body', () => {
    const { flaggedCategories, raw } = decode({ flagged_categories: ['hate'] })
    assert.deepEqual(flaggedCategories, ['hate'])
    assert.ok(!('flagged_categories' in raw.body))
  })

  const rejected: readonly [name: string, body: object, code: string, message: string][] = [
    ['more than one choice', { n: 2 }, 'unsupported_parameter', 'n: must be 1; only one choice is supported'],
    [
      'an audio answer',
      { modalities: ['text', 'audio'] },
      'unsupported_parameter',
      'modalities: only "text" is supported',
    ],
    [
      'a file without content',
      { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      'invalid_parameter',
      'messages[0].content[0].file: must have file_data or file_id',
    ],
    [
      'a choice of an unknown tool',
      { tool_choice: { type: 'function', function: { name: 'x' } } },
      'invalid_parameter',
      'tool_choice.function.name: names no tool of this request',
    ],
    [
      'an unknown tool choice',
      { tool_choice: 'maybe' },
      'invalid_parameter',
      'tool_choice: must be one of "none", "auto" or "required"',
    ],
    [
      'a tool result without an id',
      { messages: [{ role: 'tool', content: 'x' }] },
      'invalid_parameter',
      'messages[0].tool_call_id: is required',
    ],
    [
      'an unknown role',
      { messages: [{ role: 'robot', content: 'x' }] },
      'invalid_parameter',
      'messages[0].role: must be one of "system", "developer", "user", "assistant", "tool" or "function"',
    ],
    [
      'arguments that are not a string',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: {} } }] },
        ],
      },
      'invalid_parameter',
      'messages[0].tool_calls[0].function.arguments: must be a string',
    ],
  ]
  for (const [name, body, code, message] of rejected) {
    it(`rejects ${name}`, () => assert.deepEqual(faultOf(body), ['validation', code, message]))
  }
})
