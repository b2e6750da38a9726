import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { close, delta, end, open, start } from '../../../test/support/answers.ts'
import { Fault } from '../../base/fault.ts'
import type { ChargeOutcome } from '../../domain/credits/charge.ts'
import type { InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import type { Lease } from './lease.ts'
import { meter } from './meter.ts'

const expected: Usage = {
  inputTokens: 8,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  source: 'estimated',
}
const receipt = { creditsUsed: 1, costUsd: 0.001, remainingCredits: 9 }
const stopping = new Fault('unavailable', 'unavailable', 'stopping')

type Ending = { readonly outcome: ChargeOutcome; readonly input: number; readonly output: number }

/** A metered answer of these chunks, and how it was settled. */
function openScene(script: readonly (readonly InferenceEvent[] | Error)[]) {
  const endings: Ending[] = []
  const controller = new AbortController()
  const lease: Lease = {
    admission: null,
    held: () => undefined,
    quote: () => receipt,
    async settle(outcome, { inputTokens: input, outputTokens: output }) {
      endings.push({ outcome, input, output })
      return receipt
    },
    async giveUp(outcome, usage) {
      await lease.settle(outcome, usage)
    },
    charged: () => undefined,
    async [Symbol.asyncDispose]() {},
  }
  async function* source(): AsyncGenerator<Chunk> {
    for (const chunk of script) {
      if (chunk instanceof Error) throw chunk
      yield { events: chunk }
    }
  }
  const ends: Usage[] = []
  const implausible: Usage[] = []
  let stops = 0
  const metered = meter(source(), {
    lease,
    expected,
    bounds: { inputTokens: 1_000, outputTokens: 100, heldOutputTokens: 40, reasoningTokens: 50 },
    signal: controller.signal,
    stopUpstream: async () => void (stops += 1),
    onEnd: (usage) => void ends.push(usage),
    onImplausible: (usage) => void implausible.push(usage),
  })
  const iterator = metered.chunks[Symbol.asyncIterator]()
  return { metered, endings, ends, implausible, controller, stops: () => stops, iterator }
}

async function read(chunks: AsyncIterable<Chunk>): Promise<InferenceEvent[]> {
  const events: InferenceEvent[] = []
  for await (const chunk of chunks) events.push(...chunk.events)
  return events
}

const text = [start, open(0, { type: 'text' }), delta(0, 'x'.repeat(35))]

describe('a metered answer', () => {
  it('has used what was generated so far, and at its end what the upstream reports', async () => {
    const scene = openScene([text, [close(0), end()]])
    await scene.iterator.next()
    assert.deepEqual([scene.metered.used().inputTokens, scene.metered.used().outputTokens], [10, 10])
    await scene.iterator.next()
    assert.deepEqual(scene.ends, [scene.metered.used()])
    assert.deepEqual([scene.metered.used().inputTokens, scene.metered.used().outputTokens], [10, 7])
    assert.deepEqual(scene.endings, [], 'the end is paid for by withAudit')
  })

  it('counts about one token per character in a script with many bytes per character', async () => {
    const scene = openScene([[start, open(0, { type: 'text' }), delta(0, '字'.repeat(35))]])
    await scene.iterator.next()
    assert.equal(scene.metered.used().outputTokens, 30)
  })

  it('that ended unpaid is settled by the usage that the upstream reports', async () => {
    const scene = openScene([text, [close(0), end()]])
    await read(scene.metered.chunks)
    await scene.metered[Symbol.asyncDispose]()
    assert.deepEqual(scene.endings, [{ outcome: 'broken_off', input: 10, output: 7 }])
  })

  it('starts with the estimated usage if the upstream reports none', async () => {
    const scene = openScene([[{ type: 'start', model: 'm' }], [end()]])
    const [first] = await read(scene.metered.chunks)
    assert.deepEqual(first?.type === 'start' && first.usage, expected)
  })

  it('that its caller abandons is charged by what was generated', async () => {
    const scene = openScene([text, [close(0), end()]])
    await scene.iterator.next()
    scene.controller.abort(new Error('the caller hung up'))
    await scene.metered[Symbol.asyncDispose]()
    assert.deepEqual(scene.endings, [{ outcome: 'aborted', input: 10, output: 10 }])
  })

  it('that a shutdown interrupts is not charged', async () => {
    const scene = openScene([text, stopping])
    await scene.iterator.next()
    scene.controller.abort(stopping)
    await assert.rejects(async () => scene.iterator.next(), /stopping/)
    assert.deepEqual(scene.endings, [{ outcome: 'broken_off', input: 10, output: 10 }])
  })

  it('that its caller does not read is charged by what was delivered', async () => {
    const unread = new Fault('timeout', 'response_not_read', 'not read')
    const scene = openScene([text, [delta(0, 'y'.repeat(35))], unread])
    const first = await scene.iterator.next()
    if (first.value !== undefined) scene.metered.delivered(first.value)
    await scene.iterator.next()
    await assert.rejects(async () => scene.iterator.next(), /not read/)
    assert.deepEqual(scene.endings, [{ outcome: 'aborted', input: 10, output: 10 }])
  })

  it('that its caller abandons is charged at most what it holds credits for', async () => {
    const scene = openScene([text, [delta(0, 'y'.repeat(300))]])
    await scene.iterator.next()
    await scene.iterator.next()
    scene.controller.abort(new Error('the caller hung up'))
    await scene.metered[Symbol.asyncDispose]()
    assert.deepEqual(scene.endings, [{ outcome: 'aborted', input: 10, output: 40 }])
  })

  it('that the upstream interrupts is settled at once, and the failure is rethrown', async () => {
    const scene = openScene([text, new Error('connection reset')])
    await assert.rejects(read(scene.metered.chunks), /connection reset/)
    assert.deepEqual(
      scene.endings.map(({ outcome }) => outcome),
      ['broken_off'],
    )
  })

  it('is settled by the gateway’s count if the upstream reports an implausible usage, which is reported once', async () => {
    const absurd: Usage = { ...expected, inputTokens: 1e9, outputTokens: 7, source: 'reported' }
    const scene = openScene([
      [{ type: 'start', model: 'm', usage: absurd }, ...text.slice(1)],
      [close(0), { type: 'end', stopReason: 'end', usage: absurd }],
    ])
    const events = await read(scene.metered.chunks)
    const believed = { ...expected, outputTokens: 7, reportedTokens: 1e9 + 7 }
    const last = events.at(-1)
    assert.deepEqual(last?.type === 'end' && last.usage, believed)
    assert.deepEqual(scene.metered.used(), believed)
    assert.equal(scene.implausible.length, 1)
    await scene.metered[Symbol.asyncDispose]()
    assert.deepEqual(scene.endings, [{ outcome: 'broken_off', input: 8, output: 7 }])
  })

  it('that was never read is settled when it is disposed of', async () => {
    const scene = openScene([text, [end()]])
    scene.controller.abort(new Error('the caller hung up'))
    await scene.metered[Symbol.asyncDispose]()
    assert.deepEqual(scene.endings, [{ outcome: 'aborted', input: 8, output: 0 }])
  })
})

describe('an answer that is longer than its request can have', () => {
  const thinking = [start, open(0, { type: 'thinking' })]

  it('ends before the bound, in the middle of a text but not of a character', async () => {
    const scene = openScene([text, [open(1, { type: 'text' }), delta(1, '字'.repeat(200))], [close(0), end()]])
    const events = await read(scene.metered.chunks)
    // The bound of 100 tokens is 350 bytes. 35 of them are used, and a character has three.
    assert.deepEqual(events.slice(3, -1), [open(1, { type: 'text' }), delta(1, '字'.repeat(105)), close(0), close(1)])
    const last = events.at(-1)
    assert.deepEqual(last?.type === 'end' && [last.stopReason, last.usage.outputTokens], ['length', 40])
    assert.equal(scene.stops(), 1)
    assert.equal((await scene.iterator.next()).done, true)
  })

  it('is paid for by the usage that the upstream reports, if that came with the text', async () => {
    const scene = openScene([[...text, delta(0, 'x'.repeat(400)), close(0), end()]])
    const last = (await read(scene.metered.chunks)).at(-1)
    assert.deepEqual(last?.type === 'end' && [last.stopReason, last.usage.outputTokens], ['length', 7])
  })

  it('has a margin for thinking, which some upstreams do not count', async () => {
    const words = 'x'.repeat(175)
    const within = [...thinking, delta(0, words), close(0), open(1, { type: 'text' }), delta(1, words), delta(1, words)]
    assert.equal((await read(openScene([within, [close(1), end()]]).metered.chunks)).at(-2)?.type, 'close')
    const scene = openScene([[...within, delta(1, 'y')]])
    assert.deepEqual((await read(scene.metered.chunks)).slice(-2)[0], close(1))
    assert.equal(scene.stops(), 1)
  })

  it('loses the raw frames that contain the rest', async () => {
    const scene = openScene([text, [delta(0, 'x'.repeat(400))]])
    await scene.iterator.next()
    const cut = await scene.iterator.next()
    assert.equal(cut.value !== undefined && 'raw' in cut.value, false)
  })
})
