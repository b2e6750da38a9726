import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addMonths, dayAt, daysRange, monthOf, weeksOf } from './calendar-days.ts'

describe('a month of the calendar', () => {
  it('has weeks from Monday to Sunday, with gaps at its ends', () => {
    const weeks = weeksOf({ year: 2026, month: 11 })
    assert.equal(weeks.length, 6)
    assert.ok(weeks.every((week) => week.length === 7))
    assert.deepEqual(weeks[0], [undefined, undefined, undefined, undefined, undefined, undefined, '2026-11-01'])
    assert.equal(weeks[5]?.[0], '2026-11-30')
    assert.equal(
      weeksOf({ year: 2024, month: 2 })
        .flat()
        .filter((day) => day !== undefined).length,
      29,
    )
  })
  it('follows and precedes those of other years', () => {
    assert.deepEqual(addMonths({ year: 2026, month: 12 }, 1), { year: 2027, month: 1 })
    assert.deepEqual(addMonths({ year: 2026, month: 1 }, -1), { year: 2025, month: 12 })
    assert.deepEqual(monthOf('2026-11-10'), { year: 2026, month: 11 })
  })
})

describe('days of a zone', () => {
  it('begin and end at its midnights', () => {
    const { from, to } = daysRange('2026-10-25', '2026-10-25', 'Europe/Berlin')
    assert.equal(from, Date.parse('2026-10-24T22:00:00Z') / 1000)
    assert.equal(to - from, 25 * 3_600)
    assert.equal(daysRange('2026-11-08', '2026-11-10', 'UTC').to, Date.parse('2026-11-11') / 1000)
  })
  it('are those that its calendar shows', () => {
    const ms = Date.parse('2026-11-18T23:30:00Z')
    assert.deepEqual([dayAt(ms, 'UTC'), dayAt(ms, 'Asia/Tokyo')], ['2026-11-18', '2026-11-19'])
  })
})
