import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUsage, type LedgerReports, type UsageRow } from './reports.ts'

const query = { organizationId: 'org_1', fromMs: 0, toMs: 1, bucketMs: 1, groupBy: [] }

/** A ledger with this number of rows. */
const ledgerOf = (count: number): LedgerReports => ({
  entries: () => assert.fail(),
  usage: async ({ limit = Infinity }) => Array.from({ length: Math.min(count, limit) }, () => ({}) as UsageRow),
})

test('usage with more rows than a response can hold is rejected, and says what to narrow', async () => {
  assert.equal((await readUsage(ledgerOf(100_000), query)).length, 100_000)
  await assert.rejects(readUsage(ledgerOf(100_001), query), {
    code: 'invalid_parameter',
    message: /^group_by: the period has more than 100000 rows/,
  })
})
