import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InferenceRequest, Message } from '../../inference/request.ts'
import { changeTexts } from './change-texts.ts'
import { joinedTextsOf, requestTexts } from './request-texts.ts'
import { vendorFieldRoles } from '../../../wire/field-roles.ts'

const request = (messages: readonly Message[], body: Readonly<Record<string, unknown>> = {}): InferenceRequest => ({
  model: 'm',
  stream: false,
  messages,
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'messages', body, headers: {}, roles: vendorFieldRoles },
})

const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => (at * 89) % 251)).toString('base64')

const shout = (text: string): string => text.toUpperCase()

const joinedFragmentsOf = (from: InferenceRequest): readonly string[] => joinedTextsOf(from).map(({ text }) => text)

describe('the texts of a request', () => {
  it('include text, thinking, unescaped tool calls, tool results and documents', () => {
    const parts: Message['parts'] = [
      { type: 'text', text: 'one' },
      { type: 'thinking', text: 'two' },
      { type: 'tool-call', id: 't', name: 'send', input: '{"\\u0074o":"thr\\u0065e"}' },
      { type: 'tool-result', id: 't', isError: false, parts: [{ type: 'text', text: 'four' }] },
      { type: 'file', name: 'five.txt', source: { kind: 'text', text: 'six' } },
      { type: 'opaque', dialect: 'messages', raw: { type: 'search', title: 'seven', data: bytes } },
      { type: 'image', source: { kind: 'url', url: 'https://example.com/eight.png' } },
    ]
    assert.deepEqual(requestTexts(request([{ role: 'user', parts }])), [
      'one',
      'two',
      'send\nto\nthree',
      'four',
      'five.txt',
      'six',
      'type\nsearch\ntitle\nseven\ndata',
    ])
  })

  it('include unknown fields once each, and no identifying fields', () => {
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'text', text: 'hello you' }] },
      { role: 'assistant', parts: [{ type: 'tool-call', id: 't', name: 'send', input: '{"to":"all of us"}' }] },
    ]
    const body = {
      messages: [
        { role: 'user', content: 'hello you', aside: 'not for you' },
        { role: 'assistant', tool_calls: [{ id: 't', function: { name: 'send', arguments: '{"to":"all of us"}' } }] },
      ],
      documents: [{ title: 'Plan', text: 'a secret plan' }],
      metadata: { user_id: 'Ada of London' },
    }
    assert.deepEqual(requestTexts(request(messages, body)), [
      'hello you',
      'send\nto\nall of us',
      'not for you\nPlan\na secret plan',
    ])
  })

  it('include single words of content fields, and of no other fields', () => {
    const body = {
      messages: [
        { role: 'user', name: 'one', content: [{ type: 'document', context: 'two', source: { file_id: 'file_a' } }] },
        {
          role: 'user',
          content: [{ type: 'fetched', source: { type: 'text', media_type: 'text/plain', data: 'three' } }],
        },
        { role: 'assistant', content: [{ type: 'image', source: { type: 'base64', data: 'AAAA' } }] },
      ],
      prediction: { type: 'content', content: 'four' },
      response_format: { type: 'json_schema', json_schema: { schema: { properties: { five: {} } } } },
      documents: [{ text: '六' }],
      reasoning: { effort: 'high' },
    }
    assert.deepEqual(requestTexts(request([], body)), ['one\ntwo\nthree\nfour\nschema\nproperties\nfive\n六'])
  })

  it('include each text once, in whatever order the raw body has them', () => {
    const messages: Message[] = ['be kind', 'good day', 'to you too', 'good day'].map((text) => ({
      role: 'user',
      parts: [{ type: 'text', text }],
    }))
    const body = {
      later: ['to you too', 'new to us', 'good day'],
      messages: [{ content: 'good day' }, { content: 'to you too' }, { content: 'good day' }],
      system: 'be kind',
    }
    assert.deepEqual(requestTexts(request(messages, body)).slice(messages.length), ['new to us'])
  })

  it('include the joined parts of consecutive messages with one role, also inside a tool result', () => {
    const words = (...texts: readonly string[]): Message['parts'] => texts.map((text) => ({ type: 'text', text }))
    const result: Message['parts'] = [{ type: 'tool-result', id: 't', isError: false, parts: words('three.', 'Four') }]
    const messages: Message[] = [
      { role: 'user', parts: words('one.') },
      { role: 'user', parts: words('Two') },
      { role: 'assistant', parts: words('Hm.') },
      { role: 'user', parts: result },
    ]
    assert.deepEqual(joinedFragmentsOf(request(messages)), ['one.\nTwo', 'three.\nFour'])
    assert.deepEqual(joinedFragmentsOf(request(messages.slice(0, 2))), ['one.\nTwo'])
    assert.deepEqual(joinedFragmentsOf(request(messages.slice(2))), ['three.\nFour'])
    assert.deepEqual(joinedFragmentsOf(request([{ role: 'user', parts: words('five.', 'Six') }])), ['five.\nSix'])
    assert.deepEqual(joinedFragmentsOf(request(messages.slice(1, 3))), [])
  })

  it('include text in the field of an image or its URL', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'one two' }
    const body = {
      messages: [
        {
          content: [
            { type: 'image', source },
            { type: 'image_url', image_url: 'three four' },
          ],
        },
      ],
    }
    assert.deepEqual(requestTexts(request([], body)), ['one two\nthree four'])
    const parts: Message['parts'] = [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'one two' } },
      { type: 'image', source: { kind: 'url', url: 'data:text/plain,three%20four' } },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: bytes } },
    ]
    assert.deepEqual(requestTexts(request([{ role: 'user', parts }])), ['one two', 'data:text/plain,three%20four'])
  })

  it('include those of its tools', () => {
    const tool = { type: 'function', name: 'find', description: 'Finds it', parameters: { title: 'What' } } as const
    assert.deepEqual(requestTexts({ ...request([]), tools: [tool] }), ['find\nFinds it\ntitle\nWhat'])
  })
})

describe('changing the texts of a request', () => {
  it('changes both the decoded messages and the raw body, and keeps their structure', () => {
    const body = {
      model: 'm',
      system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_a', name: 'send', input: { name: 'ada', n: 1 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: 'done' }] },
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'send', arguments: '{"to":"ada"}' } }] },
      ],
      documents: [{ text: 'for ada' }],
      metadata: { user_id: 'ada' },
    }
    const changed = changeTexts(request([{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }], body), shout)
    assert.deepEqual(changed.messages, [{ role: 'user', parts: [{ type: 'text', text: 'HELLO' }] }])
    assert.deepEqual(changed.raw.body, {
      model: 'm',
      system: [{ type: 'text', text: 'BE KIND', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'HELLO' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_a', name: 'send', input: { name: 'ADA', n: 1 } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: 'DONE' }] },
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'send', arguments: '{"to":"ADA"}' } }] },
      ],
      documents: [{ text: 'FOR ADA' }],
      metadata: { user_id: 'ada' },
    })
  })

  it('changes documents and their titles', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'for ada' }
    const body = { messages: [{ role: 'user', content: [{ type: 'document', title: 'ada', source }] }] }
    const parts: Message['parts'] = [{ type: 'file', name: 'ada', source: { kind: 'text', text: 'for ada' } }]
    const changed = changeTexts(request([{ role: 'user', parts }], body), shout)
    assert.deepEqual(changed.messages[0]?.parts, [
      { type: 'file', name: 'ADA', source: { kind: 'text', text: 'FOR ADA' } },
    ])
    assert.deepEqual(changed.raw.body, {
      messages: [
        { role: 'user', content: [{ type: 'document', title: 'ADA', source: { ...source, data: 'FOR ADA' } }] },
      ],
    })
  })

  it('changes attached text files in every encoding, and no other files', () => {
    const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64')
    const picture = base64(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]))
    const file = (data: string): Message['parts'][number] => ({
      type: 'file',
      source: { kind: 'base64', mediaType: 'text/plain', data },
    })
    const bodyOf = (text: string) => ({
      messages: [
        { content: [{ type: 'file', file: { file_data: `data:text/plain;base64,${base64(text)}` } }] },
        { content: [{ type: 'document', source: { type: 'base64', data: base64(text) } }] },
        { content: [{ type: 'image', source: { type: 'base64', data: picture } }] },
      ],
    })
    const parts = [file(base64('für ada')), file(picture)]
    const source = request([{ role: 'user', parts }], bodyOf('für ada'))
    assert.deepEqual(requestTexts(source), ['für ada'])
    const changed = changeTexts(source, shout)
    assert.deepEqual(changed.messages[0]?.parts, [file(base64('FÜR ADA')), file(picture)])
    assert.deepEqual(changed.raw.body, bodyOf('FÜR ADA'))
  })

  it('changes every string in the JSON of a tool call except binary data', () => {
    const value = (text: string) => ({ data: text, nested: [{ signature: text, image_url: bytes, data: bytes }] })
    const bodyOf = (text: string) => ({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_a', name: 'send', input: value(text) }] },
        { role: 'assistant', tool_calls: [{ function: { name: 'send', arguments: JSON.stringify(value(text)) } }] },
        { role: 'user', content: [{ type: 'unknown', content: value(text) }] },
      ],
    })
    assert.deepEqual(changeTexts(request([], bodyOf('for ada')), shout).raw.body, bodyOf('FOR ADA'))
  })

  it('keeps signed thinking unchanged', () => {
    const proof = { format: 'messages', value: 'sig' } as const
    const parts: Message['parts'] = [{ type: 'thinking', text: 'hm', signature: proof }]
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' }
    const body = { messages: [{ role: 'assistant', content: [thinking] }] }
    const changed = changeTexts(request([{ role: 'assistant', parts }], body), shout)
    assert.deepEqual(changed.messages[0]?.parts, parts)
    assert.deepEqual(changed.raw.body, body)
  })
})
