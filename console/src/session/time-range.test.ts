import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rangeLabel, readTimeRange, readZone, timeRangeOf } from './time-range.ts'

describe('the time range in the address', () => {
  it('is a range that ends now, by its name', () => assert.deepEqual(readTimeRange({ range: '7d' }), { range: '7d' }))
  it('is two times, which win over a name', () =>
    assert.deepEqual(readTimeRange({ from: 100, to: 200, range: '7d' }), { from: 100, to: 200 }))
  for (const search of [
    { range: '2y' },
    { range: 7 },
    { from: 100 },
    { from: 200, to: 100 },
    { from: 100, to: 100 },
    { from: '100', to: '200' },
  ])
    it(`is the default if it is ${JSON.stringify(search)}`, () =>
      assert.deepEqual(readTimeRange(search), { range: undefined }))
})

describe('the time range of a query', () => {
  const nowMs = 1_000_007_999
  it('is the last 24 hours without a choice', () =>
    assert.deepEqual(timeRangeOf({}, nowMs), { name: '24h', from: 1_000_000 - 86_400, to: undefined }))
  it('moves in steps of ten seconds, so that a query stays the same in between', () => {
    assert.deepEqual(timeRangeOf({ range: '15m' }, nowMs), timeRangeOf({ range: '15m' }, 1_000_009_999))
    assert.equal(timeRangeOf({ range: '15m' }, 1_000_010_000).from, 1_000_010 - 900)
  })
  it('is exactly what was chosen', () =>
    assert.deepEqual(timeRangeOf({ from: 3, to: 7 }, nowMs), { name: 'custom', from: 3, to: 7 }))
})

describe('the name of a range', () => {
  it('is that of a preset, or says from when to when', () => {
    assert.equal(rangeLabel({ range: '7d' }), 'Last 7 days')
    assert.match(rangeLabel({ from: 1_767_225_600, to: 1_767_229_200 }), /\d\d:\d\d/)
  })
})

describe('the zone in the address', () => {
  it('is UTC or that of the browser', () => {
    assert.deepEqual(
      [readZone({ zone: 'utc' }).zone, readZone({ zone: 'mars' }).zone, readZone({}).zone],
      ['utc', undefined, undefined],
    )
  })
})
