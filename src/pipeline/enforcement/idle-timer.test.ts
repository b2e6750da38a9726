import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { isPromise } from '../../base/maybe-promise.ts'
import { pending } from '../../base/pull-stream.ts'
import { createIdleAwareStream, createIdleTimers, idle, type IdleAwareStream, type IdleWaiter } from './idle-timer.ts'

/** Gives what the test puts in. */
function createSource() {
  const asked: PromiseWithResolvers<IteratorResult<string>>[] = []
  const iterator = {
    next() {
      const step = Promise.withResolvers<IteratorResult<string>>()
      asked.push(step)
      return step.promise
    },
  }
  return {
    pieces: { [Symbol.asyncIterator]: () => iterator },
    give: (value: string) => asked.shift()?.resolve({ done: false, value }),
    break: (error: Error) => asked.shift()?.reject(error),
    asked: () => asked.length,
  }
}

/** What is heard next, be it word of a silence. */
async function hear({ take, whenMore }: IdleAwareStream<string>, isAwaited: boolean) {
  for (;;) {
    const taken = take()
    const heard = isPromise(taken) ? await taken : taken
    if (heard !== pending) return heard
    await new Promise<void>((resolve) => whenMore(resolve, isAwaited))
  }
}

describe('silences', () => {
  it('are told to each when its own wait is over, by one timer for all', async () => {
    const { clock, pass, waiting: timers } = createHandClock()
    const silences = createIdleTimers(clock)
    const told: string[] = []
    const waitingFor = (name: string): IdleWaiter => ({ dueMs: 0, callback: () => void told.push(name) })
    const [first, second, third] = [waitingFor('first'), waitingFor('second'), waitingFor('third')]
    silences.begin(first)
    silences.begin(second)
    await pass(60)
    silences.begin(third)
    silences.begin(first)
    silences.end(second)
    assert.equal(timers(), 1)
    await pass(40)
    assert.deepEqual(told, [])
    await pass(60)
    assert.deepEqual(told, ['third', 'first'])
    assert.equal(timers(), 0)
  })
})

describe('a listener', () => {
  it('hears of one silence before what comes late, and misses nothing', async () => {
    const { clock, pass } = createHandClock()
    const source = createSource()
    const listener = createIdleAwareStream(source.pieces, createIdleTimers(clock))
    const heard = hear(listener, true)
    await pass(100)
    assert.equal(await heard, idle)
    const late = hear(listener, true)
    await pass(100)
    source.give('late')
    assert.equal(await late, 'late')
    const next = hear(listener, true)
    assert.equal(source.asked(), 1)
    source.give('next')
    assert.equal(await next, 'next')
  })

  it('hears of no silence that nobody minds', async () => {
    const { clock, pass, waiting: timers } = createHandClock()
    const source = createSource()
    const listener = createIdleAwareStream(source.pieces, createIdleTimers(clock))
    const heard = hear(listener, false)
    assert.equal(timers(), 0)
    await pass(1000)
    source.give('at last')
    assert.equal(await heard, 'at last')
  })

  it('passes a failure on, also after a silence', async () => {
    const { clock, pass } = createHandClock()
    const source = createSource()
    const listener = createIdleAwareStream(source.pieces, createIdleTimers(clock))
    const heard = hear(listener, true)
    await pass(100)
    assert.equal(await heard, idle)
    const failing = assert.rejects(hear(listener, true), /reset/)
    source.break(new Error('reset'))
    await failing
  })
})
