import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hourMs } from '../../base/clock.ts'
import { isTimeZone, periodAt } from './period.ts'

const zones = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'America/Havana',
  'Africa/Cairo',
  'Asia/Beirut',
  'Pacific/Apia',
]
const createdAtMs = Date.UTC(2026, 0, 15, 10, 42)
const anyTime = fc.integer({ min: Date.UTC(2012, 0), max: Date.UTC(2040, 0) })
const anyPeriod = fc.constantFrom('day' as const, 'week' as const, 'month' as const)

const rangeOf = (period: 'day' | 'week' | 'month' | 'once', timeZone: string, time: string): (string | null)[] => {
  const { startMs, endMs } = periodAt({ period, timeZone, createdAtMs }, Date.parse(time))
  return [startMs, endMs].map((ms) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16)))
}

describe('the period of a budget', () => {
  it('is a day, a week from Monday on or a month of the calendar in UTC', () => {
    assert.deepEqual(rangeOf('day', 'UTC', '2026-11-19T14:30:00Z'), ['2026-11-19T00:00', '2026-11-20T00:00'])
    assert.deepEqual(rangeOf('week', 'UTC', '2026-11-22T23:59:59Z'), ['2026-11-16T00:00', '2026-11-23T00:00'])
    assert.deepEqual(rangeOf('week', 'UTC', '2026-11-23T00:00:00Z'), ['2026-11-23T00:00', '2026-11-30T00:00'])
    assert.deepEqual(rangeOf('month', 'UTC', '2026-12-31T23:00:00Z'), ['2026-12-01T00:00', '2027-01-01T00:00'])
  })

  it('begins at midnight of its time zone, and a day with a change of the clock has 23 or 25 hours', () => {
    const zone = 'America/New_York'
    assert.deepEqual(rangeOf('day', zone, '2026-03-08T12:00:00Z'), ['2026-03-08T05:00', '2026-03-09T04:00'])
    assert.deepEqual(rangeOf('day', zone, '2026-11-01T12:00:00Z'), ['2026-11-01T04:00', '2026-11-02T05:00'])
    assert.deepEqual(rangeOf('month', zone, '2026-11-01T03:59:59Z'), ['2026-10-01T04:00', '2026-11-01T04:00'])
  })

  it('begins with a full hour of UTC in a zone with half hours', () => {
    assert.deepEqual(rangeOf('day', 'Asia/Kolkata', '2026-11-19T17:59:59Z'), ['2026-11-18T18:00', '2026-11-19T18:00'])
    assert.deepEqual(rangeOf('day', 'Asia/Kolkata', '2026-11-19T18:00:00Z'), ['2026-11-19T18:00', '2026-11-20T18:00'])
  })

  it('begins with the change of the clock where that skips midnight', () => {
    assert.deepEqual(rangeOf('day', 'Africa/Cairo', '2026-04-24T10:00:00Z'), ['2026-04-23T22:00', '2026-04-24T21:00'])
  })

  it('of a budget for once begins with the hour in which it was created and never ends', () => {
    assert.deepEqual(rangeOf('once', 'Asia/Kolkata', '2031-01-01T00:00:00Z'), ['2026-01-15T10:00', null])
  })

  it('contains its time, begins with a full hour and touches the next and the previous period, in every zone', () => {
    fc.assert(
      fc.property(anyTime, anyPeriod, fc.constantFrom(...zones), (nowMs, period, timeZone) => {
        const at = (ms: number) => periodAt({ period, timeZone, createdAtMs }, ms)
        const { startMs, endMs } = at(nowMs)
        assert.ok(endMs !== null && startMs <= nowMs && nowMs < endMs)
        assert.ok(startMs % hourMs === 0)
        assert.equal(at(endMs).startMs, endMs)
        assert.equal(at(startMs - 1).endMs, startMs)
        assert.deepEqual(at(startMs), { startMs, endMs })
        assert.deepEqual(at(endMs - 1), { startMs, endMs })
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a time zone', () => {
  it('has a name in the time zone database', () => {
    for (const name of [...zones, 'Asia/Calcutta', 'GMT']) assert.ok(isTimeZone(name), name)
    for (const name of ['', 'Mars/Olympus', '+02:00', 'Europe']) assert.ok(!isTimeZone(name), name)
  })
})
