import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Piece } from '../../inference/events.ts'
import { asidesIn } from './asides.ts'

const framesOf = (...said: readonly object[]): Pick<Piece, 'original'> => ({
  original: {
    kind: 'frames',
    dialect: 'responses',
    frames: said.map((one) => ({ event: undefined, data: JSON.stringify(one) })),
  },
})

describe('what an answer says beside its text', () => {
  it('is what its citations, annotations and details hold, but for where they point', () => {
    const citation = { type: 'char_location', cited_text: 'one two', document_title: 'three', file_id: 'file_a' }
    const annotations = [{ type: 'url_citation', title: 'four', url: 'https://example.org/five' }]
    assert.deepEqual(asidesIn(framesOf({ delta: { citation } }, { part: { text: 'six', annotations } })), [
      'one two\nthree',
      'four',
    ])
    const body = { content: [{ type: 'text', text: 'six', citations: [citation] }] }
    assert.deepEqual(asidesIn({ original: { kind: 'document', dialect: 'messages', body } }), ['one two\nthree'])
  })

  it('is not what repeats a piece of the text', () => {
    const details = (text: string) => framesOf({ delta: { reasoning_details: [{ type: 'reasoning.text', text }] } })
    const events: Piece['events'] = [{ type: 'delta', block: 0, text: 'one' }]
    assert.deepEqual(asidesIn({ ...details('one'), events }), [])
    assert.deepEqual(asidesIn({ ...details('two'), events }), ['two'])
  })

  it('is nothing where there are none', () => {
    const quiet = { type: 'response.output_text.delta', delta: 'say "citations": [{', annotations: [] }
    assert.deepEqual(asidesIn(framesOf(quiet)), [])
    assert.deepEqual(asidesIn({}), [])
  })

  it('is a text that an item begins with, which is told of only when it is complete', () => {
    const message = { id: 'm', type: 'message', status: 'in_progress', role: 'assistant' }
    const added = (item: object) => framesOf({ type: 'response.output_item.added', output_index: 0, item })
    assert.deepEqual(asidesIn(added({ ...message, content: [] })), [])
    assert.deepEqual(asidesIn(added({ ...message, content: [{ type: 'output_text', text: 'one two' }] })), ['one two'])
    assert.deepEqual(asidesIn(added({ type: 'reasoning', id: 'r', summary: [{ text: 'three' }] })), ['three'])
    const part = { type: 'output_text', text: 'four', annotations: [] }
    assert.deepEqual(asidesIn(framesOf({ type: 'response.content_part.added', part })), ['four'])
  })
})
