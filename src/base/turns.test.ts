import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTurns } from './turns.ts'

const patient = new AbortController().signal

describe('turns', () => {
  it('are taken by so many at once, and then in the order of asking', async () => {
    const turns = createTurns(2)
    const order: number[] = []
    const begun = await Promise.all([turns.take(patient), turns.take(patient)])
    const later = [1, 2, 3].map(async (name) => {
      using _turn = await turns.take(patient)
      order.push(name)
    })
    await new Promise(setImmediate)
    assert.deepEqual(order, [])
    begun[0]?.[Symbol.dispose]()
    begun[0]?.[Symbol.dispose]() // a second time gives nobody a turn
    await Promise.all(later)
    assert.deepEqual(order, [1, 2, 3])
  })

  it('pass by whoever has stopped waiting', async () => {
    const turns = createTurns(1)
    const first = await turns.take(patient)
    const impatient = new AbortController()
    const gone = turns.take(impatient.signal)
    const next = turns.take(patient)
    impatient.abort(new Error('no more'))
    await assert.rejects(gone, /no more/)
    first[Symbol.dispose]()
    ;(await next)[Symbol.dispose]()
    await assert.rejects(turns.take(impatient.signal), /no more/)
  })
})
