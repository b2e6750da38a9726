import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { dayMs } from '../../base/clock.ts'
import { readUsage, type LedgerReports, type UsageQuery, type UsageRow } from './reports.ts'

type Ledger = Pick<LedgerReports, 'usage'> & { readonly asked: UsageQuery[] }

/** A ledger with this number of rows on each day. */
function ledgerOf(rowsOfDays: readonly number[]): Ledger {
  const asked: UsageQuery[] = []
  return {
    asked,
    async usage(query) {
      asked.push(query)
      const { fromMs, toMs, limit = Infinity } = query
      return rowsOfDays
        .flatMap((count, day) => Array.from({ length: count }, (_, at) => ({ startMs: day * dayMs, requests: at })))
        .filter(({ startMs }) => Math.floor(fromMs / dayMs) * dayMs <= startMs && startMs < toMs)
        .slice(0, limit) as UsageRow[]
    },
  }
}

const queryOf = (fromMs: number, toMs: number): UsageQuery => ({
  organizationId: 'org_1',
  fromMs,
  toMs,
  bucketMs: dayMs,
  groupBy: [],
})

describe('usage', () => {
  test('with more rows than a response can hold is rejected, and says what to narrow', async () => {
    const read = (rowsOfDays: number[]) => Array.fromAsync(readUsage(ledgerOf(rowsOfDays), queryOf(0, 3 * dayMs)))
    assert.equal((await read([99_000, 0, 1_000])).flat().length, 100_000)
    await assert.rejects(read([99_000, 0, 1_001]), {
      code: 'invalid_parameter',
      message: /^group_by: the period has more than 100000 rows/,
    })
  })

  test('is read in slices of whole days, and each row once and in order', async () => {
    const counts = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 30 }), fc.nat({ max: 1_500 })), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(counts, fc.nat({ max: dayMs - 1 }), fc.nat({ max: dayMs - 1 }), async (days, start, end) => {
        const ledger = ledgerOf(days)
        const query = queryOf(start, Math.max(start + 1, days.length * dayMs - end))
        const slices = await Array.fromAsync(readUsage(ledger, query))
        assert.deepEqual(slices.flat(), await ledgerOf(days).usage(query))
        for (const slice of slices)
          assert.ok(slice.length <= 1_000 || new Set(slice.map(({ startMs }) => startMs)).size === 1)
        for (const { fromMs, toMs } of ledger.asked) {
          assert.ok(fromMs === query.fromMs || fromMs % dayMs === 0)
          assert.ok(toMs === query.toMs || toMs % dayMs === 0)
        }
      }),
    )
  })

  test('of a year with few rows takes few reads', async () => {
    const ledger = ledgerOf(Array.from({ length: 366 }, () => 1))
    await Array.fromAsync(readUsage(ledger, queryOf(0, 366 * dayMs)))
    assert.ok(ledger.asked.length <= 10, `${ledger.asked.length} reads`)
  })
})
