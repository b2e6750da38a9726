import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Unreachable } from '../network/request.ts'
import { delivered, pauseFor } from './response-mapping.ts'
import { deliverEncoded, type EncodedEvent, type BatchResult } from './encoded-events.ts'

const wide = { events: 1_000, bytes: 1_000_000 }
const piecesOf = (count: number, bytes = 10): EncodedEvent[] =>
  Array.from({ length: count }, (_, at) => ({ text: `${at}`, bytes, timeMs: at * 1_000 }))

/** A destination that remembers each request's size and takes what `refuses` does not name. */
function destination(refuses: (pieces: readonly EncodedEvent[]) => BatchResult | undefined = () => undefined) {
  const taken: string[] = []
  const sizes: number[] = []
  return {
    taken,
    sizes,
    send: async (pieces: readonly EncodedEvent[]): Promise<BatchResult> => {
      sizes.push(pieces.length)
      const verdict = refuses(pieces)
      if (verdict) return verdict
      taken.push(...pieces.map(({ text }) => text))
      return delivered
    },
  }
}

describe('a batch', () => {
  it('is cut at the number of events', async () => {
    const peer = destination()
    await deliverEncoded(piecesOf(1_001), wide, peer.send)
    assert.deepEqual(peer.sizes, [1_000, 1])
  })

  it('is cut before the byte that is too many, separators counted', async () => {
    const sizes = async (bytes: number) => {
      const peer = destination()
      await deliverEncoded(piecesOf(6, 99), { events: 100, bytes }, peer.send)
      return peer.sizes
    }
    assert.deepEqual(await sizes(299), [3, 3])
    assert.deepEqual(await sizes(298), [2, 2, 2])
  })

  it('is cut where it would span too long a time', async () => {
    const peer = destination()
    await deliverEncoded(piecesOf(7), { ...wide, spanMs: 3_000 }, peer.send)
    assert.deepEqual(peer.sizes, [3, 3, 1])
  })

  it('that is empty asks for nothing', async () => {
    const peer = destination()
    assert.deepEqual(await deliverEncoded([], wide, peer.send), [])
    assert.deepEqual(peer.sizes, [])
  })

  it('keeps its order and loses nothing, whichever events are refused', async () => {
    const poison = fc.uniqueArray(fc.nat(63), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(poison, fc.boolean(), fc.integer({ min: 1, max: 64 }), async (bad, isNumbered, events) => {
        const peer = destination((pieces) => {
          const index = pieces.findIndex(({ text }) => bad.includes(Number(text)))
          if (index === -1) return undefined
          return isNumbered ? { kind: 'reject_one', index, reason: 'bad' } : { kind: 'split', reason: 'bad' }
        })
        const outcomes = await deliverEncoded(piecesOf(64), { events, bytes: 1_000_000 }, peer.send)
        outcomes.forEach((outcome, at) => assert.equal(outcome.kind, bad.includes(at) ? 'reject' : 'delivered'))
        const good = Array.from({ length: 64 }, (_, at) => at).filter((at) => !bad.includes(at))
        assert.deepEqual(peer.taken, good.map(String))
      }),
    )
  })
})

describe('delivery stops at the first request that must be repeated', () => {
  it('and leaves what was delivered before it delivered', async () => {
    const peer = destination(([first]) => (first?.text === '4' ? { kind: 'retry', reason: 'busy' } : undefined))
    const outcomes = await deliverEncoded(piecesOf(8), { ...wide, events: 2 }, peer.send)
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['delivered', 'delivered', 'delivered', 'delivered', 'retry', 'retry', 'retry', 'retry'],
    )
    assert.deepEqual(peer.sizes, [2, 2, 2])
  })

  it('and a pause holds for everything behind it', async () => {
    const pause = pauseFor('auth_error', 'no')
    const peer = destination(([first]) => (first?.text === '0' ? undefined : pause))
    const outcomes = await deliverEncoded(piecesOf(3), { ...wide, events: 1 }, peer.send)
    assert.deepEqual(outcomes, [delivered, pause, pause])
  })

  it('and an unreachable destination is a retry whose cause stays inside', async () => {
    const cause = new Error('10.0.0.7 refused')
    const outcomes = await deliverEncoded(piecesOf(1), wide, async () => {
      throw new Unreachable(cause)
    })
    assert.deepEqual(outcomes, [{ kind: 'retry', reason: 'The destination could not be reached.', cause }])
  })

  it('but a bug of ours is not taken for the destination’s', async () => {
    const failing = deliverEncoded(piecesOf(1), wide, async () => {
      throw new TypeError('ours')
    })
    await assert.rejects(failing, TypeError)
  })
})

describe('a destination that refuses everything', () => {
  const refuseAll = (): BatchResult => ({ kind: 'split', reason: 'It answered 400.' })

  it('is paused instead of sending the whole log to the dead letters', async () => {
    const peer = destination(refuseAll)
    const outcomes = await deliverEncoded(piecesOf(1_000), wide, peer.send)
    assert.equal(outcomes.length, 1_000)
    assert.deepEqual(
      new Set(outcomes),
      new Set([pauseFor('config_error', 'The destination rejects every event. It answered 400.')]),
    )
    assert.ok(peer.sizes.length < 60, `${peer.sizes.length} requests`)
  })

  it('is believed when it is about few', async () => {
    const outcomes = await deliverEncoded(piecesOf(20), wide, destination(refuseAll).send)
    assert.ok(outcomes.every(({ kind }) => kind === 'reject'))
  })

  it('is believed when it has taken any', async () => {
    const peer = destination((pieces) => (pieces.every(({ text }) => text === '0') ? undefined : refuseAll()))
    const outcomes = await deliverEncoded(piecesOf(40), wide, peer.send)
    assert.equal(outcomes.filter(({ kind }) => kind === 'reject').length, 39)
  })
})
