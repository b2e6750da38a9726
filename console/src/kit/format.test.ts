import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  axisTime,
  count,
  dollars,
  fullTime,
  milliseconds,
  percent,
  setZone,
  shortCount,
  time,
  timeSpan,
  zoneName,
} from './format.ts'

/** The formats follow the language of the reader, which a test does not choose. */
const digits = (text: string): string => text.replaceAll(/\D/g, '')

describe('numbers', () => {
  it('are a dash where there is none', () =>
    assert.deepEqual([count(null), count(undefined), milliseconds(null), dollars(undefined)], ['–', '–', '–', '–']))
  it('are counted without decimals, and shortened from 10,000', () => {
    assert.equal(digits(count(1_234_567)), '1234567')
    assert.equal(digits(shortCount(9_999)), '9999')
    assert.ok(digits(shortCount(12_345)).startsWith('123'))
  })
  it('of milliseconds have a decimal below 10 only if they are not whole', () => {
    assert.equal(digits(milliseconds(3.14)), '31')
    assert.equal(digits(milliseconds(3)), '3')
    assert.equal(digits(milliseconds(12.7)), '13')
  })
})

describe('money', () => {
  it('has more digits the smaller it is', () =>
    assert.deepEqual([0, 12.345, 1, 0.5, 0.01, 0.000123].map(dollars), [
      '$0.00',
      '$12.35',
      '$1.00',
      '$0.5000',
      '$0.0100',
      '$0.000123',
    ]))
  it('that is owed has its sign in front, and as many digits', () =>
    assert.deepEqual([-12.345, -0.5].map(dollars), ['-$12.35', '-$0.5000']))
})

it('small shares have two decimals, others one', () =>
  assert.deepEqual([0, 0.0481, 0.25, 1].map(percent), ['0.00%', '4.81%', '25.0%', '100.0%']))

describe('times', () => {
  const at = new Date(2026, 2, 4, 5, 6, 7, 89).getTime()
  it('have the day in front unless it is today', () => {
    assert.equal(time(at).endsWith('05:06:07'), true)
    assert.notEqual(digits(time(at)), '050607')
    assert.match(time(Date.now()), /^\d\d:\d\d:\d\d$/)
  })
  it('in full have the year, milliseconds if there are some, and the zone', () => {
    assert.match(fullTime(at), /2026.*05:06:07\.089 \S+$/)
    assert.match(fullTime(at - 89), /2026.*05:06:07 \S+$/)
  })
  it('are in UTC if that is chosen, which is named', () => {
    setZone('utc')
    assert.equal(zoneName(), 'UTC')
    assert.match(fullTime(Date.UTC(2026, 2, 4, 23, 59, 59)), /4.*2026, 23:59:59 UTC$/)
    setZone('local')
  })
  it('from one to another are days where both are midnight, otherwise to the minute', () => {
    setZone('utc')
    const year = new Date().getUTCFullYear()
    const on = (date: number, hour = 0): number => Date.UTC(year, 10, date, hour)
    assert.deepEqual(
      [timeSpan(on(10), on(11)), timeSpan(on(8), on(11)), timeSpan(on(10, 14), on(10, 15))].map((text) =>
        text.replaceAll(/\s/g, ' '),
      ),
      ['Nov 10', 'Nov 8 – 10', 'Nov 10, 14:00 – 15:00'],
    )
    assert.match(timeSpan(Date.UTC(2020, 10, 10), Date.UTC(2020, 10, 11)), /2020/)
    setZone('local')
  })
  it('on an axis are minutes up to two days, and days beyond', () => {
    assert.equal(axisTime(at, 172_800), '05:06')
    assert.equal(digits(axisTime(at, 172_801)), '4')
  })
})
