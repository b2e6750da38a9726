import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { InferenceEvent } from '../../../domain/inference/events.ts'
import { createOutOfBandReader, each, fields, type OutOfBandParts, type FieldShape } from './out-of-band.ts'

const shape: FieldShape = fields({
  id: 'label',
  text: 'content',
  input: 'content',
  stop: 'stop',
  filler: 'padding',
  logprobs: 'tokens',
  echo: 'request-echo',
  block: ({ type }) => (type === 'text' ? fields({ type: 'label', text: 'content' }) : 'deferred'),
  list: each(fields({ text: 'content' })),
})

const deltaOf = (text: string): InferenceEvent => ({ type: 'delta', block: 0, text })

const createReader = (parts: Partial<OutOfBandParts> = {}) =>
  createOutOfBandReader({ requestBody: {}, stops: [], isEmitted: () => false, ...parts })

const textsOf = (body: object, events: readonly InferenceEvent[] = [], parts: Partial<OutOfBandParts> = {}): string[] =>
  createReader(parts)
    .read({ ...body }, shape, { events, data: JSON.stringify(body) })
    .map(({ field, text }) => `${field}: ${text}`)

describe('out-of-band text', () => {
  it('is every string in an unknown field, at any depth', () => {
    assert.deepEqual(
      textsOf({ a_note: 'one', details: [{ code: { data: ['two'] } }], list: [{ text: '', title: 'three' }] }),
      ['a_note: one', 'details.code.data: two', 'list.title: three'],
    )
    assert.deepEqual(textsOf({ details: { 'a name that speaks': 1, falcon: 2, plain_name: 3, score: 4 } }), [
      'details.a name that speaks as a key: a name that speaks',
      'details.falcon as a key: falcon',
    ])
  })

  it('excludes text that an event contains, and includes text that differs', () => {
    assert.deepEqual(textsOf({ text: 'one', list: [{ text: 'one' }, { text: 'two' }] }, [deltaOf('one')]), [
      'list.text: two',
    ])
    assert.deepEqual(textsOf({ text: 'say "one"\n' }, [deltaOf('say \\"one\\"\\n')]), [])
    assert.deepEqual(textsOf({ input: { a_b: 1 } }, [deltaOf('{"a_b":1}')]), [])
    assert.deepEqual(textsOf({ input: { a_b: 'b' } }, [deltaOf('{"a_b":1}')]), ['input.a_b: b'])
    assert.deepEqual(textsOf({ text: 'one' }, [], { isEmitted: (text) => text === 'one' }), [])
  })

  it('excludes labels, unless they look like text', () => {
    assert.deepEqual(textsOf({ id: 'msg_01ab', details: { type: 'text', file_id: 'file-1', id: 'a' } }), [])
    assert.deepEqual(textsOf({ id: 'one two 3', details: { type: 'word', file_id: 'of us' } }), [
      'id: one two 3',
      'details.type: word',
      'details.file_id: of us',
    ])
  })

  it('includes values that only pretend to be a stop string, an echo or padding', () => {
    const parts = { stops: ['END'], requestBody: { tools: [{ description: 'Finds it' }] } }
    assert.deepEqual(textsOf({ stop: 'END', echo: { a: ['Finds it'] }, filler: 'aB3xQ' }, [], parts), [])
    assert.deepEqual(textsOf({ stop: 'one', echo: { a: ['Finds us'] }, filler: 'falcon' }, [], parts), [
      'stop: one',
      'echo.a: Finds us',
      'filler: falcon',
    ])
  })

  it('includes tokens that do not join to the text', () => {
    const token = (text: string, ...others: string[]) => ({
      token: text,
      bytes: [...Buffer.from(text)],
      top_logprobs: others.map((other) => ({ token: other })),
    })
    assert.deepEqual(
      textsOf({ text: 'one two', logprobs: [token('one'), token(' two', ' two', ' 2')] }, [deltaOf('one two')]),
      ['logprobs.token.1:  2'],
    )
    assert.deepEqual(textsOf({ logprobs: [token('one'), { token: 'a', bytes: [98] }] }), [
      'logprobs.token: one',
      'logprobs.token: a',
      'logprobs.bytes: b',
    ])
  })

  it('excludes a block that is emitted as a whole', () => {
    const raw = { type: 'search', text: 'one' }
    const event: InferenceEvent = { type: 'open', block: 0, part: { type: 'opaque', dialect: 'chat', raw } }
    assert.deepEqual(textsOf({ details: raw }, [event]), [])
    assert.deepEqual(textsOf({ block: raw }), [])
    assert.deepEqual(textsOf({ block: { type: 'text', text: 'two' } }), ['block.text: two'])
  })

  it('is marked as a delta in delta fields and in token lists', () => {
    const body = { delta: { plan_a: 'one', tools: ['two'], caller: { title: 'three' } }, logprobs: [{ token: 'four' }] }
    const read = createReader().read(body, shape, { events: [] })
    assert.deepEqual(
      read.map(({ text, isDelta: isPiece = false }) => [text, isPiece]),
      [
        ['one', true],
        ['two', false],
        ['three', false],
        ['four', true],
      ],
    )
    assert.equal(createReader().read({ delta: 'one' }, shape, { events: [] })[0]?.isDelta, true)
  })

  it('is reported once if every frame repeats it, except short strings that may spell a word', () => {
    const named = createReader()
    const countOf = (body: Record<string, unknown>): number => named.read(body, shape, { events: [] }).length
    assert.deepEqual([countOf({ falcon: 1, condor: 2 }), countOf({ falcon: 3, condor: 4 })], [2, 0])
    const reader = createReader()
    const read = (body: Record<string, unknown>): number => reader.read(body, shape, { events: [] }).length
    assert.deepEqual([read({ code: 'same' }), read({ code: 'same' }), read({ code: 'other' })], [1, 0, 1])
    assert.deepEqual([read({ code: 'l' }), read({ code: 'l' })], [1, 1])
  })

  it('is every string of a frame with a duplicate key', () => {
    const reader = createReader()
    const read = (data: string) =>
      reader.read(Object(JSON.parse(data)), shape, { events: [deltaOf('b')], data }).map(({ text }) => text)
    assert.deepEqual(read('{"text" : "a:\\"x\\":", "text":"b"}'), ['text', 'a:"x":', 'text', 'b'])
    assert.deepEqual(read('{"text":"b", "n" : {"o":[{"p":1}]}}'), [])
  })

  it('does not report duplicates where there are none', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(2), (body, indent) => {
        const texts = (data?: string) =>
          createReader().read(body, shape, { events: [], ...(data !== undefined && { data }) })
        assert.deepEqual(texts(JSON.stringify(body, null, indent)), texts())
      }),
    )
  })
})
