import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Unreachable } from '../network/request.ts'
import { delivered, pauseFor } from './response-mapping.ts'
import { deliverEncoded, type EncodedEvent, type BatchResult } from './encoded-events.ts'

const wide = { events: 1_000, bytes: 1_000_000 }
const eventsOf = (count: number, bytes = 10): EncodedEvent[] =>
  Array.from({ length: count }, (_, at) => ({ text: `${at}`, bytes, timeMs: at * 1_000 }))

/** A destination that stores the size of each request and accepts it unless `resultFor` returns a result. */
function destination(resultFor: (events: readonly EncodedEvent[]) => BatchResult | undefined = () => undefined) {
  const received: string[] = []
  const sizes: number[] = []
  return {
    received,
    sizes,
    send: async (events: readonly EncodedEvent[]): Promise<BatchResult> => {
      sizes.push(events.length)
      const result = resultFor(events)
      if (result) return result
      received.push(...events.map(({ text }) => text))
      return delivered
    },
  }
}

describe('a batch', () => {
  it('is split at the maximum number of events', async () => {
    const peer = destination()
    await deliverEncoded(eventsOf(1_001), wide, peer.send)
    assert.deepEqual(peer.sizes, [1_000, 1])
  })

  it('is split before it exceeds the byte limit, including separators', async () => {
    const sizes = async (bytes: number) => {
      const peer = destination()
      await deliverEncoded(eventsOf(6, 99), { events: 100, bytes }, peer.send)
      return peer.sizes
    }
    assert.deepEqual(await sizes(299), [3, 3])
    assert.deepEqual(await sizes(298), [2, 2, 2])
  })

  it('is split where it would span too much time', async () => {
    const peer = destination()
    await deliverEncoded(eventsOf(7), { ...wide, spanMs: 3_000 }, peer.send)
    assert.deepEqual(peer.sizes, [3, 3, 1])
  })

  it('that is empty sends no request', async () => {
    const peer = destination()
    assert.deepEqual(await deliverEncoded([], wide, peer.send), [])
    assert.deepEqual(peer.sizes, [])
  })

  it('keeps its order and loses nothing, whichever events are rejected', async () => {
    const poison = fc.uniqueArray(fc.nat(63), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(poison, fc.boolean(), fc.integer({ min: 1, max: 64 }), async (bad, isNumbered, events) => {
        const peer = destination((sent) => {
          const index = sent.findIndex(({ text }) => bad.includes(Number(text)))
          if (index === -1) return undefined
          return isNumbered ? { kind: 'reject_one', index, reason: 'bad' } : { kind: 'split', reason: 'bad' }
        })
        const outcomes = await deliverEncoded(eventsOf(64), { events, bytes: 1_000_000 }, peer.send)
        outcomes.forEach((outcome, at) => assert.equal(outcome.kind, bad.includes(at) ? 'reject' : 'delivered'))
        const good = Array.from({ length: 64 }, (_, at) => at).filter((at) => !bad.includes(at))
        assert.deepEqual(peer.received, good.map(String))
      }),
    )
  })
})

describe('delivery stops at the first request that must be retried', () => {
  it('and keeps the outcomes of earlier requests', async () => {
    const peer = destination(([first]) => (first?.text === '4' ? { kind: 'retry', reason: 'busy' } : undefined))
    const outcomes = await deliverEncoded(eventsOf(8), { ...wide, events: 2 }, peer.send)
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'delivered', 'delivered', 'delivered', 'retry', 'retry', 'retry', 'retry'],
    )
    assert.deepEqual(peer.sizes, [2, 2, 2])
  })

  it('and a pause applies to all later events', async () => {
    const pause = pauseFor('auth_error', 'no')
    const peer = destination(([first]) => (first?.text === '0' ? undefined : pause))
    const outcomes = await deliverEncoded(eventsOf(3), { ...wide, events: 1 }, peer.send)
    assert.deepEqual(outcomes, [delivered, pause, pause])
  })

  it('and an unreachable destination is a retry with an internal cause', async () => {
    const cause = new Error('10.0.0.7 refused')
    const outcomes = await deliverEncoded(eventsOf(1), wide, async () => {
      throw new Unreachable(cause)
    })
    assert.deepEqual(outcomes, [{ kind: 'retry', reason: 'The destination could not be reached.', cause }])
  })

  it('but an error of the gateway is thrown', async () => {
    const failing = deliverEncoded(eventsOf(1), wide, async () => {
      throw new TypeError('a bug')
    })
    await assert.rejects(failing, TypeError)
  })
})

describe('a destination that rejects everything', () => {
  const rejectAll = (): BatchResult => ({ kind: 'split', reason: 'It answered 400.' })

  it('is paused instead of making the whole log dead letters', async () => {
    const peer = destination(rejectAll)
    const outcomes = await deliverEncoded(eventsOf(1_000), wide, peer.send)
    assert.equal(outcomes.length, 1_000)
    assert.deepEqual(
      new Set(outcomes),
      new Set([pauseFor('config_error', 'The destination rejects every event. It answered 400.')]),
    )
    assert.ok(peer.sizes.length < 60, `${peer.sizes.length} requests`)
  })

  it('can reject a few events', async () => {
    const outcomes = await deliverEncoded(eventsOf(20), wide, destination(rejectAll).send)
    assert.ok(outcomes.every(({ kind }) => kind === 'reject'))
  })

  it('can reject events if it has accepted any', async () => {
    const peer = destination((events) => (events.every(({ text }) => text === '0') ? undefined : rejectAll()))
    const outcomes = await deliverEncoded(eventsOf(40), wide, peer.send)
    assert.equal(outcomes.filter(({ kind }) => kind === 'reject').length, 39)
  })
})
