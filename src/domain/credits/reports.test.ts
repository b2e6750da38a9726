import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { dayMs } from '../../base/clock.ts'
import {
  readUsagePage,
  wholePeriodMs,
  type LedgerReports,
  type UsagePage,
  type UsageQuery,
  type UsageRow,
} from './reports.ts'

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

/** All pages, one after the other. */
async function readPages(ledger: Ledger, query: UsageQuery): Promise<UsagePage[]> {
  const pages: UsagePage[] = []
  for (let fromMs: number | undefined = query.fromMs; fromMs !== undefined; fromMs = pages.at(-1)?.nextMs)
    pages.push(await readUsagePage(ledger, { ...query, fromMs }))
  return pages
}

describe('usage', () => {
  test('with more rows at once than a response can hold is rejected, and says what to narrow', async () => {
    const read = (rowsOfDays: number[]) => readPages(ledgerOf(rowsOfDays), queryOf(0, 3 * dayMs))
    assert.equal((await read([99_000, 0, 100_000])).flatMap(({ rows }) => rows).length, 199_000)
    const error = { code: 'invalid_parameter', message: /^group_by: the day has more than 100000 rows/ }
    await assert.rejects(read([99_000, 0, 100_001]), error)
    const total = { ...queryOf(0, 3 * dayMs), bucketMs: wholePeriodMs }
    const ofPeriod = { ...error, message: /^group_by: the period has more than 100000 rows/ }
    await assert.rejects(readUsagePage(ledgerOf([99_000, 0, 1_001]), total), ofPeriod)
  })

  test('is read in pages of whole days, and each row once and in order', async () => {
    const few = fc.nat({ max: 30 })
    const counts = fc.array(fc.oneof(fc.constant(0), few, fc.nat({ max: 1_500 }), fc.nat({ max: 12_000 })), {
      maxLength: 20,
    })
    await fc.assert(
      fc.asyncProperty(counts, fc.nat({ max: dayMs - 1 }), fc.nat({ max: dayMs - 1 }), async (days, start, end) => {
        const ledger = ledgerOf(days)
        const query = queryOf(start, Math.max(start + 1, days.length * dayMs - end))
        const pages = await readPages(ledger, query)
        assert.deepEqual(
          pages.flatMap(({ rows }) => rows),
          await ledgerOf(days).usage(query),
        )
        for (const { rows, nextMs } of pages) {
          assert.ok(rows.filter(({ startMs }) => startMs !== rows.at(-1)?.startMs).length < 10_000)
          assert.ok(nextMs === undefined || (rows.length >= 10_000 && nextMs % dayMs === 0))
        }
        for (const { fromMs, toMs } of ledger.asked) {
          assert.ok(fromMs === query.fromMs || fromMs % dayMs === 0)
          assert.ok(toMs === query.toMs || toMs % dayMs === 0)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('of a year with few rows takes few reads', async () => {
    const ledger = ledgerOf(Array.from({ length: 366 }, () => 1))
    const { nextMs } = await readUsagePage(ledger, queryOf(0, 366 * dayMs))
    assert.equal(nextMs, undefined)
    assert.ok(ledger.asked.length <= 10, `${ledger.asked.length} reads`)
  })

  test('of the whole period as one bucket is one read', async () => {
    const ledger = ledgerOf([2, 3])
    const page = await readUsagePage(ledger, { ...queryOf(0, 2 * dayMs), bucketMs: wholePeriodMs })
    assert.deepEqual([page.rows.length, page.nextMs, ledger.asked.length], [5, undefined, 1])
  })
})
