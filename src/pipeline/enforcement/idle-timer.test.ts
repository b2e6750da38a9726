import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { isPromise } from '../../base/maybe-promise.ts'
import { pending, pullStreamOf } from '../../base/pull-stream.ts'
import { createIdleAwareStream, createIdleTimers, createIdleWaiter, idle, type IdleAwareStream } from './idle-timer.ts'

/** A source that the test feeds. */
function createSource() {
  const requested: PromiseWithResolvers<IteratorResult<string>>[] = []
  const iterator = {
    next() {
      const step = Promise.withResolvers<IteratorResult<string>>()
      requested.push(step)
      return step.promise
    },
  }
  return {
    chunks: { [Symbol.asyncIterator]: () => iterator },
    emit: (value: string) => requested.shift()?.resolve({ done: false, value }),
    fail: (error: Error) => requested.shift()?.reject(error),
    requested: () => requested.length,
  }
}

/** The next chunk, or `idle`. */
async function next(stream: IdleAwareStream<string>, isWatched: boolean) {
  for (;;) {
    const polled = stream.poll()
    const result = isPromise(polled) ? await polled : polled
    if (result !== pending) return result
    await new Promise<void>((resolve) => stream.onReadable(resolve, isWatched))
  }
}

describe('idle timers', () => {
  it('call each stream when its own wait is over, with one clock timer for all', async () => {
    const { clock, pass, waiting: timers } = createHandClock()
    const idleTimers = createIdleTimers(clock)
    const called: string[] = []
    const ownerOf = (name: string) => ({ onIdle: () => void called.push(name) })
    const [first, second, third] = [createIdleWaiter(), createIdleWaiter(), createIdleWaiter()]
    idleTimers.start(first, ownerOf('first'))
    idleTimers.start(second, ownerOf('second'))
    await pass(60)
    idleTimers.start(third, ownerOf('third'))
    idleTimers.start(first, ownerOf('first'))
    idleTimers.stop(second)
    assert.equal(second.owner, undefined)
    assert.equal(timers(), 1)
    await pass(40)
    assert.deepEqual(called, [])
    await pass(60)
    assert.deepEqual(new Set(called), new Set(['first', 'third']))
    assert.equal(timers(), 0)
  })
})

describe('an idle-aware stream', () => {
  it('reports one idle gap before a late chunk, and loses no chunk', async () => {
    const { clock, pass } = createHandClock()
    const source = createSource()
    const stream = createIdleAwareStream(pullStreamOf(source.chunks), createIdleTimers(clock))
    const polled = next(stream, true)
    await pass(100)
    assert.equal(await polled, idle)
    const late = next(stream, true)
    await pass(100)
    source.emit('late')
    assert.equal(await late, 'late')
    const following = next(stream, true)
    assert.equal(source.requested(), 1)
    source.emit('next')
    assert.equal(await following, 'next')
  })

  it('reports no idle gap that is not watched', async () => {
    const { clock, pass, waiting: timers } = createHandClock()
    const source = createSource()
    const stream = createIdleAwareStream(pullStreamOf(source.chunks), createIdleTimers(clock))
    const polled = next(stream, false)
    assert.equal(timers(), 0)
    await pass(1000)
    source.emit('at last')
    assert.equal(await polled, 'at last')
  })

  it('passes an error on, also after an idle gap', async () => {
    const { clock, pass } = createHandClock()
    const source = createSource()
    const stream = createIdleAwareStream(pullStreamOf(source.chunks), createIdleTimers(clock))
    const polled = next(stream, true)
    await pass(100)
    assert.equal(await polled, idle)
    const failing = assert.rejects(next(stream, true), /reset/)
    source.fail(new Error('reset'))
    await failing
  })
})
