import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { anyEvents, contextIn, inSequence } from '../../../../test/support/answers.ts'
import type { InferenceEvent } from '../../../domain/inference/events.ts'
import { createMessagesWriter } from '../../messages/stream-writer.ts'
import { createResponsesWriter } from '../../responses/stream-writer.ts'

type Fields = Record<string, unknown>

/** One block as a client sees it: its start, its joined deltas, its end. */
type SeenBlock = { readonly at: unknown; start: unknown; text: string; isOver: boolean }

const framesOf = (text: string): Fields[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))

/** The names of each dialect for the start, the deltas and the end of a block. */
const formats = {
  messages: {
    createWriter: createMessagesWriter,
    at: 'index',
    starts: 'content_block_start',
    ends: 'content_block_stop',
    textOf: ({ delta }: Fields) => JSON.stringify(delta).replace(/^\{"type":"\w+","\w+":"|"\}$/g, ''),
  },
  responses: {
    createWriter: createResponsesWriter,
    at: 'output_index',
    starts: 'response.output_item.added',
    ends: 'response.output_item.done',
    textOf: ({ delta }: Fields) => JSON.stringify(delta).slice(1, -1),
  },
} as const

/** Reads a stream as its blocks. Throws if a block starts or continues while another one is open. */
function blocksOf(dialect: keyof typeof formats, events: readonly InferenceEvent[]): SeenBlock[] {
  const { createWriter, at, starts, ends, textOf } = formats[dialect]
  const blocks: SeenBlock[] = []
  for (const frame of framesOf(createWriter(contextIn(dialect)).write(events))) {
    const last = blocks.at(-1)
    if (frame['type'] === starts) {
      assert.notEqual(last?.isOver, false, 'a block starts while another one is open')
      blocks.push({ at: frame[at], start: frame['content_block'] ?? frame['item'], text: '', isOver: false })
    } else if (last !== undefined && frame[at] !== undefined) {
      assert.deepEqual([frame[at], last.isOver], [last.at, false], 'a block continues while another one is open')
      if (frame['type'] === ends) last.isOver = true
      else if (frame['delta'] !== undefined) last.text += textOf(frame)
    }
  }
  return blocks
}

for (const dialect of ['messages', 'responses'] as const) {
  describe(`blocks that overlap, written for ${dialect}`, () => {
    it('become the same blocks as blocks one after the other', () => {
      fc.assert(
        fc.property(anyEvents(dialect), (events) => {
          assert.deepEqual(blocksOf(dialect, events), blocksOf(dialect, inSequence(events)))
        }),
        { numRuns: 500 },
      )
    })

    it('are written as soon as no earlier block is open', () => {
      const writer = formats[dialect].createWriter(contextIn(dialect))
      const call = (block: number): InferenceEvent => ({
        type: 'open',
        block,
        part: { type: 'tool-call', id: `call_${block}`, name: 'f' },
      })
      const delta = (block: number, text: string): InferenceEvent => ({ type: 'delta', block, text })
      const close = (block: number): InferenceEvent => ({ type: 'close', block })
      writer.write([{ type: 'start', model: 'm' }, call(0), delta(0, '{')])
      assert.equal(writer.write([call(1), delta(1, '{"held":'), call(2), delta(2, '{"later":1}'), close(2)]), '')
      assert.match(writer.write([delta(0, '}')]), /delta/)
      const released = writer.write([close(0)])
      assert.match(released, /held/)
      assert.doesNotMatch(released, /later/)
      assert.match(writer.write([delta(1, '1}')]), /1\}/)
      assert.match(writer.write([close(1)]), /later/)
    })
  })
}
