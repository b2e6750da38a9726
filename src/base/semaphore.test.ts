import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSemaphore } from './semaphore.ts'

const patient = new AbortController().signal

describe('a semaphore', () => {
  it('lets a fixed number work at once, and the others in the order of their calls', async () => {
    const turns = createSemaphore(2)
    const order: number[] = []
    const begun = await Promise.all([turns.acquire(patient), turns.acquire(patient)])
    const later = [1, 2, 3].map(async (name) => {
      using _turn = await turns.acquire(patient)
      order.push(name)
    })
    await new Promise(setImmediate)
    assert.deepEqual(order, [])
    begun[0]?.[Symbol.dispose]()
    begun[0]?.[Symbol.dispose]() // disposing twice releases one permit only
    await Promise.all(later)
    assert.deepEqual(order, [1, 2, 3])
  })

  it('skips a caller that has stopped waiting', async () => {
    const turns = createSemaphore(1)
    const first = await turns.acquire(patient)
    const impatient = new AbortController()
    const gone = turns.acquire(impatient.signal)
    const next = turns.acquire(patient)
    impatient.abort(new Error('no more'))
    await assert.rejects(gone, /no more/)
    first[Symbol.dispose]()
    ;(await next)[Symbol.dispose]()
    await assert.rejects(turns.acquire(impatient.signal), /no more/)
  })
})
