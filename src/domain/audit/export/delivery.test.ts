import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DeliveryOutcome } from './sink.ts'
import type { Cursor } from './cursor.ts'
import { afterDraining, afterGap, afterWatermark, applyOutcome, type Offered } from './delivery.ts'

const nowMs = 1_000_000
const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0.5 }
const moment = { nowMs, random }

const cursor: Cursor = {
  sequence: 10,
  planLast: 20,
  state: 'healthy',
  attempt: 0,
  nextAttemptAtMs: 0,
  failingSinceMs: null,
  alarmedAtMs: null,
  lastSuccessAtMs: 5,
  lastErrorAtMs: null,
  lastError: null,
}

const delivered: DeliveryOutcome = { kind: 'delivered' }
const retry: DeliveryOutcome = { kind: 'retry', reason: 'busy' }
const reject: DeliveryOutcome = { kind: 'reject', reason: 'bad' }
const authError: DeliveryOutcome = { kind: 'pause', state: 'auth_error', reason: 'no token' }

const offeredFrom = (first: number, outcomes: readonly DeliveryOutcome[], code = 'policy.updated'): Offered[] =>
  outcomes.map((outcome, at) => ({ sequence: first + at, id: `evt_${first + at}`, code, outcome }))

const settled = (outcomes: readonly DeliveryOutcome[], from: Cursor = cursor) =>
  applyOutcome(from, { offered: offeredFrom(from.sequence + 1, outcomes), last: 20 }, moment)

describe('a batch that was delivered', () => {
  it('moves the cursor to its end and clears the failure state', () => {
    const before: Cursor = { ...cursor, state: 'retrying', attempt: 7, nextAttemptAtMs: 9 }
    const { cursor: after, rejected, sinkEvents } = settled([delivered, delivered], before)
    assert.deepEqual(after, { ...cursor, sequence: 20, planLast: null, lastSuccessAtMs: nowMs })
    assert.deepEqual([rejected, sinkEvents], [[], []])
  })

  it('is reported as a recovery if a pause was reported', () => {
    const { sinkEvents } = settled([delivered], { ...cursor, state: 'auth_error', failingSinceMs: 3 })
    assert.deepEqual(sinkEvents, [{ kind: 'recovered', failingSinceMs: 3 }])
  })

  it('does not change the state of the destination if the filter left no event', () => {
    const before: Cursor = { ...cursor, state: 'auth_error', attempt: 2, failingSinceMs: 3 }
    assert.deepEqual(settled([], before), {
      cursor: { ...before, sequence: 20, planLast: null },
      rejected: [],
      sinkEvents: [],
    })
  })
})

describe('a batch that must be repeated', () => {
  it('moves the cursor to the event before the first failed one, and keeps the planned end', () => {
    const { cursor: after } = settled([delivered, delivered, retry, retry])
    assert.deepEqual([after.sequence, after.planLast, after.state, after.attempt], [12, 20, 'retrying', 1])
    assert.equal(after.nextAttemptAtMs, nowMs + 500)
    assert.deepEqual([after.lastSuccessAtMs, after.lastErrorAtMs, after.lastError], [nowMs, nowMs, 'busy'])
  })

  it('waits longer each time without a limit of attempts, and as long as the destination requests', () => {
    const waits = [1, 2, 3, 60].map((attempt) => settled([retry], { ...cursor, attempt: attempt - 1 }).cursor)
    assert.deepEqual(
      waits.map(({ nextAttemptAtMs }) => nextAttemptAtMs - nowMs),
      [500, 1_000, 2_000, 150_000],
    )
    const throttled = settled([{ kind: 'retry', reason: 'slow down', retryAfterMs: 30_000 }]).cursor
    assert.deepEqual([throttled.state, throttled.nextAttemptAtMs - nowMs], ['throttled', 30_500])
  })

  it('resets the number of attempts if an event was delivered', () => {
    assert.equal(settled([delivered, retry], { ...cursor, attempt: 9 }).cursor.attempt, 1)
  })

  it('keeps the time of the pause until a delivery succeeds', () => {
    assert.equal(settled([authError]).cursor.failingSinceMs, nowMs)
    assert.equal(settled([retry], { ...cursor, failingSinceMs: 3 }).cursor.failingSinceMs, 3)
  })
})

describe('a pause', () => {
  it('drops nothing, is reported once, and is retried in an hour', () => {
    const first = settled([authError, authError])
    assert.deepEqual([first.cursor.sequence, first.cursor.state], [10, 'auth_error'])
    assert.equal(first.cursor.nextAttemptAtMs - nowMs, 3_600_000)
    assert.deepEqual(first.sinkEvents, [{ kind: 'auth_error', reason: 'no token' }])
    assert.deepEqual(settled([authError], first.cursor).sinkEvents, [])
  })
})

describe('an event that is rejected', () => {
  it('becomes a dead letter, is reported, and does not stop the queue', () => {
    const { cursor: after, rejected, sinkEvents } = settled([delivered, reject, delivered])
    assert.equal(after.sequence, 20)
    assert.deepEqual(rejected, [{ sequence: 12, id: 'evt_12', reason: 'bad' }])
    assert.deepEqual(sinkEvents, [{ kind: 'dead_lettered', events: rejected }])
    assert.deepEqual([after.state, after.lastError], ['healthy', 'bad'])
  })

  it('stays in the queue if an event before it must be retried', () => {
    assert.deepEqual(settled([retry, reject]).rejected, [])
  })

  it('stays in the queue if the destination never accepted an event', () => {
    const fresh: Cursor = { ...cursor, lastSuccessAtMs: null }
    const { cursor: after, rejected, sinkEvents } = settled([reject, reject], fresh)
    const reason = 'The destination rejects every event. bad'
    assert.deepEqual([after.sequence, after.planLast, after.state, after.lastError], [10, null, 'config_error', reason])
    assert.deepEqual([rejected, sinkEvents], [[], [{ kind: 'config_error', reason }]])
    assert.equal(settled([reject, delivered], fresh).rejected.length, 1)
  })

  it('does not end a pause', () => {
    const { cursor: after, sinkEvents } = settled([reject], { ...cursor, state: 'auth_error', failingSinceMs: 3 })
    assert.deepEqual([after.failingSinceMs, sinkEvents.map(({ kind }) => kind)], [3, ['dead_lettered']])
  })

  it('is not reported if it is itself a report of a dead letter, because that would never end', () => {
    const offered = offeredFrom(11, [reject], 'export.dead_lettered')
    const { rejected, sinkEvents } = applyOutcome(cursor, { offered, last: 20 }, moment)
    assert.equal(rejected.length, 1)
    assert.deepEqual(sinkEvents, [])
  })
})

describe('watermarks', () => {
  const marks = { alarmAfterMs: 1_000, alarmAfterEvents: 100, nowMs }

  it('raise one alarm, by number or by age, until the backlog is delivered', () => {
    const few = { events: 99, oldestAtMs: nowMs - 999 }
    assert.equal(afterWatermark(cursor, few, marks), undefined)
    for (const backlog of [
      { ...few, events: 100 },
      { ...few, oldestAtMs: nowMs - 1_000 },
    ]) {
      const alarm = afterWatermark(cursor, backlog, marks) ?? assert.fail()
      assert.equal(alarm.sinkEvents[0]?.kind, 'backlog_alarm')
      assert.equal(afterWatermark(alarm.cursor, backlog, marks), undefined)
      const drained = afterDraining(alarm.cursor) ?? assert.fail()
      assert.deepEqual(drained.sinkEvents, [{ kind: 'recovered', failingSinceMs: nowMs }])
      assert.equal(afterDraining(drained.cursor), undefined)
    }
  })
})

describe('a gap', () => {
  it('of events that retention removed is reported, and the sink continues after it', () => {
    const { cursor: after, sinkEvents } = afterGap(cursor, 31) ?? assert.fail()
    assert.deepEqual([after.sequence, after.planLast], [30, null])
    assert.deepEqual(sinkEvents, [{ kind: 'gap', first: 11, last: 30 }])
    assert.equal(afterGap(cursor, 11), undefined)
  })
})

const anyOutcome = fc.constantFrom(delivered, retry, reject, authError)

it('for any responses, each event is delivered, rejected or still ahead of the cursor', () => {
  fc.assert(
    fc.property(fc.array(anyOutcome, { maxLength: 10 }), (outcomes) => {
      const { cursor: after, rejected } = settled(outcomes)
      const passed = outcomes.slice(0, Math.min(after.sequence, 10 + outcomes.length) - 10)
      assert.ok(passed.every(({ kind }) => kind === 'delivered' || kind === 'reject'))
      assert.equal(rejected.length, passed.filter(({ kind }) => kind === 'reject').length)
      const isStopped = outcomes.some(({ kind }) => kind === 'retry' || kind === 'pause')
      assert.equal(after.sequence < 20, isStopped)
      assert.ok(!isStopped || after.nextAttemptAtMs > nowMs)
    }),
  )
})
