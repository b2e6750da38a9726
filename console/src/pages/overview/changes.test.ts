import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changeShare, changeText, latencyChange, latencyText } from './changes.ts'

const few = (from: number, to: number | null) => ({ from_ms: from, to_ms: to, estimate_ms: null })
const many = (estimate: number) => ({ from_ms: 500, to_ms: 1_000, estimate_ms: estimate })

describe('the change of a figure', () => {
  it('is a share of the figure before', () => {
    assert.equal(changeText(106, 100, '24h'), '+6% on the day before')
    assert.equal(changeText(50, 100, '7d'), '-50% on the week before')
    assert.equal(changeText(101, 100_000, '1h'), '-100% on the hour before')
    assert.equal(changeShare(3, 2), '+50%')
  })
  it('is said in words where the figure before was the same, or 0', () => {
    assert.equal(changeText(0, 0, '15m'), 'as in the 15 minutes before')
    assert.equal(changeText(7, 0, 'custom'), 'none in the period before')
    assert.equal(changeShare(7, 0), '–')
  })
})

describe('a latency', () => {
  it('is a range where there are few responses', () => {
    assert.equal(latencyText(few(100, 250)), 'under 250 ms')
    assert.equal(latencyText(few(60_000, null)), 'over 60 s')
    assert.equal(latencyText(many(742)), '742 ms')
    assert.equal(latencyText(null), '–')
  })
  it('is compared by a number only where both are known', () => {
    assert.equal(latencyChange(many(742), many(711), '24h'), '+31 ms on the day before')
    assert.equal(latencyChange(many(742), few(100, 250), '24h'), 'under 250 ms in the day before')
  })
})
