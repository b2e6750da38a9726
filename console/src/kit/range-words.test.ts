import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRangeWords } from './range-words.ts'

/** A Wednesday. */
const now = '2026-11-18T15:30:00Z'

const read = (text: string, timeZone = 'UTC', at = now): string | undefined => {
  const range = readRangeWords(text, { nowMs: Date.parse(at), timeZone })
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16)
  return range && `${iso(range.from)} ${iso(range.to)}`
}

const day = (date: string, next: string): string => `${date}T00:00 ${next}T00:00`

const table: readonly (readonly [text: string, range: string])[] = [
  ['today', day('2026-11-18', '2026-11-19')],
  ['Yesterday', day('2026-11-17', '2026-11-18')],
  ['the day before yesterday', day('2026-11-16', '2026-11-17')],
  ['last Tuesday', day('2026-11-17', '2026-11-18')],
  ['tue', day('2026-11-17', '2026-11-18')],
  ['last wednesday', day('2026-11-11', '2026-11-12')],
  ['on Thursday', day('2026-11-12', '2026-11-13')],
  ['3 days ago', day('2026-11-15', '2026-11-16')],
  ['a week ago', day('2026-11-11', '2026-11-12')],
  ['10 Nov', day('2026-11-10', '2026-11-11')],
  ['Nov 10', day('2026-11-10', '2026-11-11')],
  ['November 10th, 2025', day('2025-11-10', '2025-11-11')],
  ['10th of november', day('2026-11-10', '2026-11-11')],
  ['24 Dec', day('2025-12-24', '2025-12-25')],
  ['29 feb 2024', day('2024-02-29', '2024-03-01')],
  ['2026-11-10', day('2026-11-10', '2026-11-11')],
  ['10.11.2026', day('2026-11-10', '2026-11-11')],
  ['this week', day('2026-11-16', '2026-11-23')],
  ['last week', day('2026-11-09', '2026-11-16')],
  ['this month', day('2026-11-01', '2026-12-01')],
  ['last month', day('2026-10-01', '2026-11-01')],
  ['this year', day('2026-01-01', '2027-01-01')],
  ['last 3 days', '2026-11-15T15:30 2026-11-18T15:30'],
  ['past 90 minutes', '2026-11-18T14:00 2026-11-18T15:30'],
  ['last 2h', '2026-11-18T13:30 2026-11-18T15:30'],
  ['last hour', '2026-11-18T14:30 2026-11-18T15:30'],
  ['last 1 month', '2026-10-18T15:30 2026-11-18T15:30'],
  ['yesterday 14:00 to 15:00', '2026-11-17T14:00 2026-11-17T15:00'],
  ['yesterday at 2pm', '2026-11-17T14:00 2026-11-17T15:00'],
  ['14:00 yesterday', '2026-11-17T14:00 2026-11-17T15:00'],
  ['9:15 - 10:45', '2026-11-18T09:15 2026-11-18T10:45'],
  ['noon to 1:30 pm', '2026-11-18T12:00 2026-11-18T13:30'],
  ['10 Nov 22:00 to 02:00', '2026-11-10T22:00 2026-11-11T02:00'],
  ['10 Nov 14:00 – 15:00', '2026-11-10T14:00 2026-11-10T15:00'],
  ['from 10 Nov 14:00 to 12 Nov 9:00', '2026-11-10T14:00 2026-11-12T09:00'],
  ['10 Nov to 12 Nov', day('2026-11-10', '2026-11-13')],
  ['8 to 10 Nov', day('2026-11-08', '2026-11-11')],
  ['between monday and tuesday', day('2026-11-16', '2026-11-18')],
  ['2026-11-08..2026-11-10', day('2026-11-08', '2026-11-11')],
  ['since yesterday', '2026-11-17T00:00 2026-11-18T15:30'],
  ['since 9:00', '2026-11-18T09:00 2026-11-18T15:30'],
  ['yesterday to now', '2026-11-17T00:00 2026-11-18T15:30'],
]

describe('a range in words', () => {
  for (const [text, range] of table) it(`is read: ${text}`, () => assert.equal(read(text), range))

  for (const text of ['', 'soon', '31 Nov', '2026-13-01', '25:00', '13pm', '10 to 9', 'last', 'to', '12 Nov to 10 Nov'])
    it(`is not guessed: ${JSON.stringify(text)}`, () => assert.equal(read(text), undefined))

  it('begins and ends with the days of the zone', () => {
    assert.equal(read('yesterday', 'Europe/Berlin'), '2026-11-16T23:00 2026-11-17T23:00')
    assert.equal(read('today', 'Asia/Tokyo'), '2026-11-18T15:00 2026-11-19T15:00')
    assert.equal(read('today', 'America/New_York', '2026-11-18T03:00:00Z'), '2026-11-17T05:00 2026-11-18T05:00')
    assert.equal(read('10 Nov 14:00 to 15:00', 'Asia/Kolkata'), '2026-11-10T08:30 2026-11-10T09:30')
  })

  it('has 23 hours on the day when clocks are set forward, and 25 when they are set back', () => {
    assert.equal(read('29 March 2026', 'Europe/Berlin'), '2026-03-28T23:00 2026-03-29T22:00')
    assert.equal(read('25 October 2026', 'Europe/Berlin'), '2026-10-24T22:00 2026-10-25T23:00')
    assert.equal(read('1 Nov 2026', 'America/New_York'), '2026-11-01T04:00 2026-11-02T05:00')
  })

  it('counts on from a time that the clock skips, and takes the first of two', () => {
    assert.equal(read('29 March 2026 2:30 to 5:00', 'Europe/Berlin'), '2026-03-29T01:30 2026-03-29T03:00')
    assert.equal(read('25 October 2026 2:30 to 5:00', 'Europe/Berlin'), '2026-10-25T00:30 2026-10-25T04:00')
  })

  it('keeps the time of day over a change of the clocks', () =>
    assert.equal(read('last 2 days', 'Europe/Berlin', '2026-10-26T11:00:00Z'), '2026-10-24T10:00 2026-10-26T11:00'))
})
