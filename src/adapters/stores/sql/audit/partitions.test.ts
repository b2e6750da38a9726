import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { dayMs } from '../../../../base/clock.ts'
import { missingPartitions, type Partition } from './partitions.ts'

const nowMs = Date.UTC(2026, 10, 17, 15)
const todayMs = Date.UTC(2026, 10, 17)
const namesOf = (partitions: readonly Partition[]): string[] => partitions.map(({ name }) => name)

describe('the missing partitions of the audit log', () => {
  it('are one for each day, from today to a week ahead', () => {
    const missing = missingPartitions([], { nowMs, retentionDays: 30 })
    assert.equal(missing.length, 8)
    assert.deepEqual(missing[0], { name: 'audit_event_20261117', fromMs: todayMs, toMs: todayMs + dayMs })
    assert.equal(missing.at(-1)?.name, 'audit_event_20261124')
  })

  it('continue where the last one ends', () => {
    const last = { name: 'audit_event_before', fromMs: -Infinity, toMs: todayMs + 6 * dayMs }
    const missing = missingPartitions([last], { nowMs, retentionDays: 30 })
    assert.deepEqual(namesOf(missing), ['audit_event_20261123', 'audit_event_20261124'])
  })

  it('begin today if the service did not run for longer', () => {
    const last = { name: 'audit_event_20260101', fromMs: 0, toMs: todayMs - 90 * dayMs }
    assert.equal(missingPartitions([last], { nowMs, retentionDays: 30 })[0]?.name, 'audit_event_20261117')
  })

  it('cover several days if events are kept for long', () => {
    const missing = missingPartitions([], { nowMs, retentionDays: 365 })
    assert.deepEqual(namesOf(missing), ['audit_event_20261117', 'audit_event_20261119'])
    assert.equal(missing[1]?.toMs, Date.UTC(2026, 10, 26))
  })

  it('never overlap and leave no gap, however time passes and the retention changes', () => {
    const step = fc.record({
      days: fc.double({ min: 0, max: 6, noNaN: true }),
      retentionDays: fc.integer({ min: 1, max: 36_500 }),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const existing: Partition[] = []
        let at = nowMs
        for (const { days, retentionDays } of steps) {
          at += Math.floor(days * dayMs)
          existing.push(...missingPartitions(existing, { nowMs: at, retentionDays }))
          assert.ok((existing.at(-1)?.toMs ?? 0) > at + 7 * dayMs)
        }
        existing.forEach(({ fromMs, toMs }, index) => {
          assert.ok(fromMs < toMs && toMs % dayMs === 0)
          if (index > 0) assert.equal(fromMs, existing[index - 1]?.toMs)
        })
        assert.equal(new Set(namesOf(existing)).size, existing.length)
      }),
    )
  })
})
