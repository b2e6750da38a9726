import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFairSemaphore, QueueFull, type FairSemaphoreLimits } from './fair-semaphore.ts'

const never = new AbortController().signal

/** Starts callers by name; `order` lists those that got a permit. */
function createScene(limits: Partial<FairSemaphoreLimits>) {
  const semaphore = createFairSemaphore({ most: 10, mostOfGroup: 10, mostWaitingOfGroup: 10, ...limits })
  const order: string[] = []
  const permits = new Map<string, Disposable>()
  return {
    semaphore,
    order,
    async call(group: string, name: string, signal = never): Promise<void> {
      permits.set(name, await semaphore.acquire(group, signal))
      order.push(name)
    },
    async release(name: string): Promise<void> {
      permits.get(name)?.[Symbol.dispose]()
      await new Promise(setImmediate)
    },
  }
}

describe('the fair semaphore', () => {
  it('limits callers in total and of a group', async () => {
    const { semaphore, order, call, release } = createScene({ most: 3, mostOfGroup: 2 })
    for (const name of ['a1', 'a2', 'a3']) void call('a', name)
    for (const name of ['b1', 'b2']) void call('b', name)
    await release('none')
    assert.deepEqual(order, ['a1', 'a2', 'b1'])
    assert.deepEqual([semaphore.running(), semaphore.waiting()], [3, 2])
    await release('b1')
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'b2'])
    await release('b2')
    assert.deepEqual(order.length, 4) // a has its two
    await release('a1')
    assert.deepEqual(order.at(-1), 'a3')
  })

  it('lets groups take turns, and callers of a group in the order of their calls', async () => {
    const { order, call, release } = createScene({ most: 1 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void call('a', name)
    for (const name of ['b1', 'b2']) void call('b', name)
    void call('c', 'c1')
    await release('none')
    for (let count = 0; count < 7; count++) await release(order.at(-1) ?? '')
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('rejects a caller whose group has too many waiting, and none of another group', async () => {
    const { semaphore, call, release } = createScene({ most: 1, mostWaitingOfGroup: 1 })
    await call('a', 'a1')
    void call('a', 'a2')
    await assert.rejects(call('a', 'a3'), QueueFull)
    void call('b', 'b1')
    assert.equal(semaphore.waiting(), 2)
    await release('a1')
    await release('b1')
    void call('a', 'a4')
    assert.deepEqual([semaphore.running(), semaphore.waiting()], [1, 1])
  })

  it('forgets a caller who leaves while it waits', async () => {
    const { semaphore, order, call, release } = createScene({ most: 1 })
    await call('a', 'a1')
    const leaving = new AbortController()
    const left = call('a', 'a2', leaving.signal)
    void call('a', 'a3')
    leaving.abort(new Error('gone'))
    await assert.rejects(left, /gone/)
    await assert.rejects(call('a', 'a4', leaving.signal), /gone/)
    await release('a1')
    assert.deepEqual(order, ['a1', 'a3'])
    assert.deepEqual([semaphore.running(), semaphore.waiting()], [1, 0])
  })

  it('releases a permit once, however often it is disposed of', async () => {
    const { semaphore, call, release } = createScene({})
    await call('a', 'a1')
    await call('a', 'a2')
    await release('a1')
    await release('a1')
    assert.equal(semaphore.running(), 1)
  })
})
