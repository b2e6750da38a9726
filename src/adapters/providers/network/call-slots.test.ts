import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createCallSlots } from './call-slots.ts'

function createScene(queueTimeoutMs = 1_000) {
  const { clock, pass } = createHandClock()
  const waits: [number, boolean][] = []
  const onQueued = () => {
    const sinceMs = clock.monotonicMs()
    return (hasSlot: boolean): void => void waits.push([clock.monotonicMs() - sinceMs, hasSlot])
  }
  const slots = createCallSlots({ maxConcurrent: 1, queueTimeoutMs, clock, onQueued })
  assert.equal(slots.take(), true)
  const order: string[] = []
  const wait = (name: string, signal = new AbortController().signal): Promise<void> =>
    slots.wait(signal).then(
      () => void order.push(name),
      (error) => void order.push(`${name}: ${error.code}`),
    )
  return { slots, pass, waits, order, wait }
}

describe('the queue for an upstream', () => {
  it('passes each slot to the call that has waited longest, and never to a later one', async () => {
    const { slots, order, wait } = createScene()
    const calls = [wait('first'), wait('second'), wait('third')]
    for (const call of calls) {
      slots.release()
      assert.equal(slots.take(), false, 'the slot is taken by the queue')
      await call
    }
    assert.deepEqual(order, ['first', 'second', 'third'])
    slots.release()
    assert.equal(slots.take(), true)
  })

  it('fails a call as busy after the timeout, and reports how long it waited', async () => {
    const { slots, pass, order, waits, wait } = createScene()
    const call = wait('first')
    await pass(999)
    const later = wait('second')
    await pass(1)
    await call
    assert.deepEqual([order, waits], [['first: upstream_busy'], [[1_000, false]]])
    slots.release()
    await later
    assert.deepEqual(waits.at(-1), [1, true])
  })

  it('forgets a call whose caller has left', async () => {
    const { slots, order, wait } = createScene()
    const aborter = new AbortController()
    const [first, second] = [wait('first', aborter.signal), wait('second')]
    aborter.abort()
    await first
    slots.release()
    await second
    assert.deepEqual(order, ['first: upstream_error', 'second'])
    assert.equal(slots.take(), false)
  })

  it('fails a call at once if waiting is off, or if its caller has already left', async () => {
    const { order, wait } = createScene(0)
    await wait('first')
    await wait('second', AbortSignal.abort())
    assert.deepEqual(order, ['first: upstream_busy', 'second: upstream_error'])
  })
})
