import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InferenceEvent, Usage } from './events.ts'
import { foldEvents } from './fold.ts'
import { createEventOrder } from './event-order.ts'

const usage: Usage = {
  inputTokens: 3,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 2,
  reasoningTokens: 0,
  source: 'reported',
}
const start: InferenceEvent = { type: 'start', model: 'm' }
const end: InferenceEvent = { type: 'end', stopReason: 'end', usage }
const openText = (block: number): InferenceEvent => ({ type: 'open', block, part: { type: 'text' } })
const openThinking: InferenceEvent = { type: 'open', block: 0, part: { type: 'thinking' } }
const delta = (block: number, text: string): InferenceEvent => ({ type: 'delta', block, text })
const close = (block: number): InferenceEvent => ({ type: 'close', block })
const citation: InferenceEvent = { type: 'citation', block: 0, citation: { url: 'u', title: 't' } }
const signature: InferenceEvent = { type: 'signature', block: 0, signature: { format: 'messages', value: 's' } }

describe('foldEvents', () => {
  it('joins the deltas of each block, including blocks that are open at the same time', () => {
    const call = (block: number, id: string): InferenceEvent => ({
      type: 'open',
      block,
      part: { type: 'tool-call', id, name: 'f' },
    })
    const events = [
      start,
      call(0, 'a'),
      call(1, 'b'),
      delta(0, '{"x"'),
      delta(1, '{}'),
      delta(0, ':1}'),
      close(1),
      close(0),
      end,
    ]
    assert.deepEqual(foldEvents(events).blocks, [
      { type: 'tool-call', id: 'a', name: 'f', input: '{"x":1}' },
      { type: 'tool-call', id: 'b', name: 'f', input: '{}' },
    ])
  })

  it('keeps reasoning signatures and opaque blocks unchanged', () => {
    const opaque = { type: 'opaque', dialect: 'messages', raw: { type: 'x' } } as const
    const events = [
      start,
      openThinking,
      delta(0, 'hm'),
      signature,
      close(0),
      { type: 'open', block: 1, part: opaque } as const,
      close(1),
      end,
    ]
    assert.deepEqual(foldEvents(events).blocks, [
      { type: 'thinking', text: 'hm', signature: { format: 'messages', value: 's' } },
      opaque,
    ])
  })

  it('keeps the citations of a text block, wherever they come', () => {
    assert.deepEqual(foldEvents([start, openText(0), citation, delta(0, 'Sun'), citation, close(0), end]).blocks, [
      {
        type: 'text',
        text: 'Sun',
        citations: [
          { url: 'u', title: 't' },
          { url: 'u', title: 't' },
        ],
      },
    ])
  })

  it('reports a tool call as the stop reason if the upstream reported a normal end', () => {
    const call: InferenceEvent = { type: 'open', block: 0, part: { type: 'tool-call', id: 'a', name: 'f' } }
    assert.equal(foldEvents([start, call, close(0), end]).stopReason, 'tool-call')
    assert.equal(foldEvents([start, call, close(0), { ...end, stopReason: 'length' }]).stopReason, 'length')
    assert.equal(foldEvents([start, end]).stopReason, 'end')
  })

  it('rejects a list without an end', () => {
    assert.throws(() => foldEvents([start]), /the end is missing/)
  })
})

describe('event order', () => {
  const illegal: readonly [name: string, events: readonly InferenceEvent[]][] = [
    ['anything before the start', [openText(0)]],
    ['an end before the start', [end]],
    ['a second start', [start, start]],
    ['a gap in the block numbers', [start, openText(1)]],
    ['a block that opens twice', [start, openText(0), openText(0)]],
    ['a delta for an unopened block', [start, delta(0, 'x')]],
    ['a delta for a closed block', [start, openText(0), close(0), delta(0, 'x')]],
    [
      'a delta into an opaque block',
      [start, { type: 'open', block: 0, part: { type: 'opaque', dialect: 'chat', raw: 1 } }, delta(0, 'x')],
    ],
    ['a delta after the signature', [start, openThinking, signature, delta(0, 'x')]],
    ['a signature for text', [start, openText(0), signature]],
    ['a citation for thinking', [start, openThinking, citation]],
    ['a citation for a closed block', [start, openText(0), close(0), citation]],
    ['a second signature', [start, openThinking, signature, signature]],
    ['a block that closes twice', [start, openText(0), close(0), close(0)]],
    ['an end while a block is open', [start, openText(0), end]],
    ['anything after the end', [start, end, openText(0)]],
    ['a second end', [start, end, end]],
  ]
  for (const [name, events] of illegal) {
    it(`rejects ${name}, and accepts the events before it`, () => {
      const order = createEventOrder()
      for (const event of events.slice(0, -1)) order.accept(event)
      const last = events.at(-1)
      assert.ok(last)
      assert.throws(() => order.accept(last), /Illegal event order/)
    })
  }

  it('reports which blocks are open and when the response has ended', () => {
    const order = createEventOrder()
    for (const event of [start, openText(0), openText(1), close(0)]) order.accept(event)
    assert.deepEqual(order.openBlocks(), [1])
    assert.equal(order.hasEnded(), false)
    order.accept(close(1))
    order.accept(end)
    assert.equal(order.hasEnded(), true)
  })
})
