import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import { createValidator } from '../validate.ts'
import { vendorFieldRoles } from '../../wire/field-roles.ts'
import { decodeResponses } from './decode.ts'
import { ResponsesBody } from './schema.ts'

const validate = createValidator(ResponsesBody)
const decode = (body: object) => decodeResponses(validate({ model: 'm', input: 'Hi', ...body }))

const refusalOf = (body: object) => {
  try {
    decode(body)
  } catch (error) {
    assert.ok(error instanceof Fault)
    return [error.code, error.message]
  }
  return assert.fail('nothing was rejected')
}

describe('decoding a responses body', () => {
  it('decodes a plain text', () => {
    const request = decode({ instructions: 'Be brief.' })
    assert.deepEqual(request, {
      raw: request.raw,
      model: 'm',
      stream: false,
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      ],
      stop: [],
      tools: [],
      flaggedCategories: [],
    })
  })

  it('takes the user from the metadata if no other field names one', () => {
    assert.equal(decode({ metadata: { user_id: 'u' } }).user, 'u')
  })

  it('decodes a turn of an agent that sends its own history', () => {
    const body = {
      model: 'default-model',
      instructions: 'You are an agent.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Sandboxed.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'list' }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'enc' },
        {
          type: 'message',
          role: 'assistant',
          id: 'msg_1',
          content: [{ type: 'output_text', text: 'Listing.', annotations: [] }],
        },
        { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'shell', arguments: '{"command":["ls"]}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'a\nb' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
      ],
      tools: [
        { type: 'function', name: 'shell', description: 'Runs.', strict: false, parameters: { type: 'object' } },
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } },
        { type: 'web_search' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'medium', summary: 'auto' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
    }
    const { messages, raw, ...rest } = decodeResponses(validate(body))
    assert.deepEqual(messages, [
      { role: 'system', parts: [{ type: 'text', text: 'You are an agent.' }] },
      { role: 'system', parts: [{ type: 'text', text: 'Sandboxed.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'list' }] },
      {
        role: 'assistant',
        parts: [{ type: 'thinking', text: 'Hm.', signature: { format: 'responses', value: 'enc', id: 'rs_1' } }],
      },
      { role: 'assistant', parts: [{ type: 'text', text: 'Listing.' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'call_1', name: 'shell', input: '{"command":["ls"]}' }] },
      {
        role: 'user',
        parts: [{ type: 'tool-result', id: 'call_1', parts: [{ type: 'text', text: 'a\nb' }], isError: false }],
      },
      { role: 'assistant', parts: [{ type: 'opaque', dialect: 'responses', raw: body.input[6], isToolCall: true }] },
      { role: 'user', parts: [{ type: 'opaque', dialect: 'responses', raw: body.input[7], isToolResult: true }] },
    ])
    assert.deepEqual(raw, { dialect: 'responses', body, headers: {}, roles: vendorFieldRoles })
    assert.deepEqual(rest, {
      model: 'default-model',
      stream: true,
      stop: [],
      flaggedCategories: [],
      tools: [
        { type: 'function', name: 'shell', description: 'Runs.', strict: false, parameters: { type: 'object' } },
        { type: 'opaque', dialect: 'responses', name: 'apply_patch', raw: body.tools[1] },
        { type: 'opaque', dialect: 'responses', name: 'web_search', raw: body.tools[2] },
      ],
      toolChoice: { type: 'auto' },
      parallelToolCalls: false,
      reasoning: { effort: 'medium', visible: true },
    })
  })

  it('decodes images and files, in messages and in tool results', () => {
    const parts = [
      { type: 'input_image', image_url: 'data:image/webp;base64,AAAA', detail: 'high' },
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' },
      { type: 'input_file', file_url: 'https://x/a.pdf' },
    ]
    const { messages } = decode({
      input: [
        { role: 'user', content: parts },
        { type: 'function_call_output', call_id: 'c', output: parts.slice(0, 1) },
      ],
    })
    const image = { type: 'image', source: { kind: 'base64', mediaType: 'image/webp', data: 'AAAA' }, detail: 'high' }
    assert.deepEqual(messages[0]?.parts, [
      image,
      { type: 'image', source: { kind: 'file', id: 'file_1' } },
      { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' }, name: 'a.pdf' },
      { type: 'file', source: { kind: 'url', url: 'https://x/a.pdf' } },
    ])
    assert.deepEqual(messages[1]?.parts, [{ type: 'tool-result', id: 'c', parts: [image], isError: false }])
  })

  it('unwraps reasoning signatures from the envelope, and sends each upstream only its own', () => {
    const foreign = { format: 'messages', value: 'sig' } as const
    const own = { format: 'responses', value: 'enc', id: 'rs_theirs' } as const
    const item = { type: 'reasoning', id: 'rs_ours', summary: [{ type: 'summary_text', text: 'Hm.' }] }
    const { messages, raw } = decode({
      input: [
        { ...item, encrypted_content: signatureText(foreign, 'responses') },
        { ...item, encrypted_content: signatureText(own, 'responses', 'rs_ours') },
        { ...item, encrypted_content: null },
      ],
    })
    assert.deepEqual(
      messages.map(({ parts }) => parts),
      [
        [{ type: 'thinking', text: 'Hm.', signature: foreign }],
        [{ type: 'thinking', text: 'Hm.', signature: own }],
        [{ type: 'thinking', text: 'Hm.' }],
      ],
    )
    assert.deepEqual(raw.body['input'], [
      { ...item, id: 'rs_theirs', encrypted_content: 'enc' },
      { ...item, encrypted_content: null },
    ])
  })

  it('decodes every form of a tool choice', () => {
    const tools = [{ type: 'function', name: 'a' }, { type: 'function', name: 'b' }, { type: 'web_search' }]
    const choiceOf = (choice: unknown) => {
      const request = decode({ tools, tool_choice: choice })
      return [request.toolChoice, request.tools.map(({ name }) => name)]
    }
    const all = ['a', 'b', 'web_search']
    assert.deepEqual(choiceOf('required'), [{ type: 'required' }, all])
    assert.deepEqual(choiceOf({ type: 'function', name: 'b' }), [{ type: 'tool', name: 'b' }, all])
    assert.deepEqual(choiceOf({ type: 'web_search' }), [{ type: 'tool', name: 'web_search' }, all])
    const allowed = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'a' }, { type: 'web_search' }],
    }
    assert.deepEqual(choiceOf(allowed), [{ type: 'auto' }, ['a', 'web_search']])
  })

  it('decodes the output formats', () => {
    assert.deepEqual(decode({ text: { format: { type: 'json_object' } } }).outputFormat, { type: 'json-object' })
    assert.deepEqual(
      decode({ text: { format: { type: 'json_schema', name: 'out', schema: { type: 'object' }, strict: true } } })
        .outputFormat,
      { type: 'json-schema', name: 'out', schema: { type: 'object' }, strict: true },
    )
    assert.equal(decode({ text: { format: { type: 'text' } } }).outputFormat, undefined)
  })

  const rejected: readonly [name: string, body: object, code: string, message: RegExp][] = [
    ['no input', { input: null }, 'invalid_parameter', /^input: is required$/],
    ['an empty input', { input: [] }, 'invalid_parameter', /^input: must have at least 1 item$/],
    [
      'a reference that was not resolved',
      { input: [{ type: 'item_reference', id: 'msg_x' }] },
      'invalid_parameter',
      /^Item with id 'msg_x' not found/,
    ],
    [
      'a reference without a type',
      { input: [{ id: 'msg_x' }] },
      'invalid_parameter',
      /^Item with id 'msg_x' not found/,
    ],
    [
      'a message with an id and invalid content',
      { input: [{ id: 'msg_x', role: 'user', content: 5 }] },
      'invalid_parameter',
      /^input\[0\]\.content: must be a string or an array$/,
    ],
    [
      'a message with an id and an unknown role',
      { input: [{ id: 'msg_x', role: 'wizard', content: 'Hi' }] },
      'invalid_parameter',
      /^input\[0\]\.role: must be one of/,
    ],
    [
      'a previous response that was not resolved',
      { previous_response_id: 'resp_1' },
      'unsupported_parameter',
      /^previous_response_id: /,
    ],
    ['a response in the background', { background: true }, 'unsupported_parameter', /^background: /],
    ['a stored conversation', { conversation: 'conv_1' }, 'unsupported_parameter', /^conversation: /],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 'unsupported_parameter', /^prompt: /],
    [
      'an item without an id',
      { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      'invalid_parameter',
      /^input\[0\]\.call_id: is required$/,
    ],
    [
      'an image without a source',
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'invalid_parameter',
      /^input\[0\]\.content\[0\]: must have image_url or file_id$/,
    ],
    ['an input of another kind', { input: 7 }, 'invalid_parameter', /^input: must be a string, an array or null$/],
    [
      'a message without content',
      { input: [{ role: 'user' }] },
      'invalid_parameter',
      /^input\[0\]\.content: is required$/,
    ],
  ]
  for (const [name, body, code, message] of rejected) {
    it(`rejects ${name}`, () => {
      const [actualCode, actualMessage] = refusalOf(body)
      assert.equal(actualCode, code)
      assert.match(actualMessage ?? '', message)
    })
  }
})
