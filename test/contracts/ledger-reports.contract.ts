import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerReports } from '../../src/adapters/stores/sql/credits/reports.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import type { NewGrant } from '../../src/domain/credits/ledger-store.ts'
import { costMicro } from '../../src/domain/credits/rates.ts'
import type { LedgerVerification } from '../../src/domain/credits/ledger-verification.ts'
import { wholePeriodMs, type LedgerPage } from '../../src/domain/credits/reports.ts'
import { chargeOf, organizationOf } from '../support/credits.ts'
import type { Engine } from '../support/engines.ts'
import { verifyThrough } from '../support/ledger.ts'
import { createHandClock } from '../support/hand-clock.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** The expected finding, and the statements that corrupt the ledger. */
const damages: readonly { readonly sql: string; readonly table: string; readonly says: RegExp }[] = [
  { sql: `update charge set micro = 1 where request_id = 'req_1'`, table: 'charge', says: /tokens times its rates/ },
  { sql: `update charge set output_tokens = 99 where request_id = 'req_1'`, table: 'charge', says: /times its rates/ },
  { sql: `delete from credit_entry where ref = 'req_1'`, table: 'charge', says: /has no entry/ },
  { sql: `delete from charge where request_id = 'req_1'`, table: 'credit_entry', says: /no charge/ },
  { sql: `update credit_entry set micro = 31 where ref = 'req_1'`, table: 'credit_entry', says: /same amount/ },
  {
    sql: `update credit_entry set slice_id = 'gone' where ref = 'req_1'`,
    table: 'credit_entry',
    says: /names no slice/,
  },
  { sql: `update credit_slice set settled = settled + 1`, table: 'credit_slice', says: /its entries say/ },
  { sql: `update credit_slice set state = 'closed'`, table: 'credit_slice', says: /its entries say/ },
  {
    sql: `update credit_account set available = available + 5, granted = granted + 5`,
    table: 'credit_account',
    says: /its entries say/,
  },
  { sql: `delete from credit_account`, table: 'credit_account', says: /missing/ },
]

/** The contract of the reports of every ledger. */
export function ledgerReportsContract({ name, skip, open }: Engine): void {
  describe(`ledger reports: ${name}`, { skip }, () => {
    it('list grants and usage, newest first, by page, without the gateway’s own slices', async () => {
      await using scene = await openScene(open)
      const all = await scene.reports.entries('org_1', { limit: 10, order: 'desc' })
      assert.deepEqual(
        all.items.map(({ kind, micro, ref }) => [kind, micro, ref]),
        [
          ['usage', -20, 'req_2'],
          ['usage', -30, 'req_1'],
          ['grant', 1_000, 'start'],
        ],
      )
      assert.deepEqual(all.items[1]?.charge, scene.first)
      assert.equal(all.items[2]?.charge, null)
      const { items, hasMore } = await scene.reports.entries('org_1', { limit: 1, order: 'desc' })
      assert.equal(hasMore, true)
      const next = await scene.reports.entries('org_1', { limit: 1, order: 'desc', after: items[0]?.id ?? '' })
      assert.equal(next.items[0]?.ref, 'req_1')
      assert.deepEqual((await scene.reports.entries('org_2', { limit: 1, order: 'desc' })).items, [])
    })

    it('find entries by kind, project, request and time, and all of these together', async () => {
      await using scene = await openScene(open)
      await scene.ledger.settle({ ...chargeOf('req_3', 5, 'slice_1'), atMs: 3 * hourMs, projectId: 'proj_2' })
      const refs = async (page: Partial<LedgerPage>, organizationId = 'org_1') =>
        (await scene.reports.entries(organizationId, { limit: 10, order: 'asc', ...page })).items.map(({ ref }) => ref)
      assert.deepEqual(await refs({ kind: 'grant' }), ['start'])
      assert.deepEqual(await refs({ kind: 'usage' }), ['req_1', 'req_2', 'req_3'])
      assert.deepEqual(await refs({ kind: 'payment' }), [])
      assert.deepEqual(await refs({ projectId: 'proj_1' }), ['req_1', 'req_2'])
      assert.deepEqual(await refs({ projectId: 'proj_2', order: 'desc' }), ['req_3'])
      assert.deepEqual(await refs({ requestId: 'req_2' }), ['req_2'])
      assert.deepEqual(await refs({ requestId: 'req_2', projectId: 'proj_2' }), [])
      assert.deepEqual(await refs({ requestId: 'req_2' }, 'org_2'), [])
      assert.deepEqual(await refs({ fromMs: hourMs + 1, toMs: 2 * hourMs }), ['req_1'])
      assert.deepEqual(await refs({ fromMs: 2 * hourMs, projectId: 'proj_1' }), ['req_2'])
      assert.deepEqual(await refs({ toMs: hourMs }), ['start'])
      assert.deepEqual(await refs({ fromMs: 4 * hourMs }), [])
      const [first] = (await scene.reports.entries('org_1', { limit: 1, order: 'asc', kind: 'usage' })).items
      assert.deepEqual(await refs({ kind: 'usage', after: first?.id ?? '', toMs: 3 * hourMs }), ['req_2'])
    })

    it('sum up usage by end user', async () => {
      await using scene = await openScene(open)
      await scene.ledger.settle({ ...chargeOf('req_3', 5, 'slice_1'), atMs: 2 * hourMs, userId: 'ada' })
      await scene.ledger.settle({ ...chargeOf('req_4', 0, null), atMs: 2 * hourMs, userId: 'ada' })
      const usageQuery = { organizationId: 'org_1', fromMs: 0, toMs: 10 * hourMs, bucketMs: 24 * hourMs }
      const rows = await scene.reports.usage({ ...usageQuery, groupBy: ['user'] })
      const byUser = new Map(rows.map(({ userId, requests, micro }) => [userId, [requests, micro]]))
      assert.deepEqual(Object.fromEntries(byUser), { ada: [2, 5], null: [2, 50] })
    })

    it('sum up usage by time interval and by group', async () => {
      await using scene = await openScene(open)
      const usageQuery = { organizationId: 'org_1', fromMs: 0, toMs: 10 * hourMs, bucketMs: hourMs }
      const [early, late] = await scene.reports.usage({ ...usageQuery, groupBy: [] })
      assert.deepEqual([early?.startMs, early?.requests, early?.inputTokens, early?.micro], [hourMs, 1, 30, 30])
      assert.deepEqual([late?.startMs, late?.projectId, late?.keyId, late?.model], [2 * hourMs, null, null, null])
      const grouped = await scene.reports.usage({ ...usageQuery, bucketMs: 24 * hourMs, groupBy: ['model', 'project'] })
      assert.deepEqual(
        grouped.map(({ startMs, model, projectId, requests, micro }) => [startMs, model, projectId, requests, micro]),
        [
          [0, 'default-model', 'proj_1', 1, 30],
          [0, 'other-model', 'proj_1', 1, 20],
        ],
      )
      const period = { ...usageQuery, fromMs: 30 * minuteMs, toMs: 60 * 24 * hourMs + 90 * minuteMs }
      const total = await scene.reports.usage({ ...period, bucketMs: wholePeriodMs, groupBy: ['project'] })
      assert.deepEqual(
        total.map(({ startMs, projectId, requests, micro }) => [startMs, projectId, requests, micro]),
        [[0, 'proj_1', 2, 50]],
      )
      assert.deepEqual(await scene.reports.usage({ ...usageQuery, groupBy: [], limit: 1 }), [early])
      assert.deepEqual(await scene.reports.usage({ ...usageQuery, toMs: hourMs, groupBy: [] }), [])
      assert.deepEqual(await scene.reports.usage({ ...usageQuery, organizationId: 'org_2', groupBy: [] }), [])
    })

    it('find no error in a consistent ledger with open, closed and indebted slices', async () => {
      await using scene = await openScene(open)
      const sound = await scene.verify()
      assert.deepEqual([sound.broken, sound.charges, sound.slices], [null, 2, 1])
      await scene.ledger.settle({ ...chargeOf('req_3', 5_000, 'slice_1') })
      await scene.ledger.closeSlice('slice_1')
      await scene.ledger.settle({ ...chargeOf('req_4', 7, 'slice_1') })
      await scene.ledger.settle({ ...chargeOf('req_5', 0, null) })
      await scene.ledger.settle({ ...chargeOf('req_6', 0, 'slice_1'), outcome: 'orphaned' })
      assert.equal((await scene.verify()).broken, null)
    })

    it('list a correction with a negative amount, and find no error in a ledger that has one', async () => {
      await using scene = await openScene(open)
      await scene.correct({ organizationId: 'org_1', ref: 'typo', micro: 200, note: 'too much' })
      const { items } = await scene.reports.entries('org_1', { limit: 1, order: 'desc' })
      assert.deepEqual(
        items.map(({ kind, micro, ref, note }) => [kind, micro, ref, note]),
        [['correction', -200, 'typo', 'too much']],
      )
      const inTime = await scene.reports.entries('org_1', { limit: 9, order: 'desc', kind: 'correction', fromMs: 0 })
      assert.deepEqual(inTime.items, items)
      assert.equal((await scene.verify()).broken, null)
      const { broken } = await scene.after(`update credit_entry set micro = 201 where kind = 'correction'`)
      assert.equal(broken?.table, 'credit_account')
    })

    it('recompute a charge exactly, however many tokens the upstream reported', async () => {
      await using scene = await openScene(open)
      const usage = { inputTokens: 999_999_999, cacheReadTokens: 7, cacheWriteTokens: 0, outputTokens: 1e9 }
      const rates = { input: 3e9 + 1, cacheRead: 3e8, cacheWrite: 4e9, output: 15e9, version: 'v2' }
      const charge: Charge = {
        ...chargeOf('req_absurd', costMicro(usage, rates), 'slice_1'),
        usage: { ...usage, source: 'estimated', reportedTokens: 2e9 },
        rates,
      }
      await scene.ledger.settle(charge)
      assert.equal((await scene.verify()).broken, null)
      const { items } = await scene.reports.entries('org_1', { limit: 1, order: 'desc' })
      assert.deepEqual(items[0]?.charge, charge)
      const { broken } = await scene.after(`update charge set micro = micro + 1 where request_id = 'req_absurd'`)
      assert.equal(broken?.id, 'req_absurd')
    })

    it('name the first inconsistent row after a manual change of the tables', async () => {
      await using scene = await openScene(open)
      // Entries are read in pages once they are old enough, and in one snapshot before.
      const times = [0, 24 * hourMs]
      for (const [{ sql, table, says }, nowMs] of damages.flatMap((damage) =>
        times.map((at) => [damage, at] as const),
      )) {
        const { broken } = await scene.after(sql, nowMs)
        assert.equal(broken?.table, table, sql)
        assert.match(broken?.says ?? '', says)
        assert.ok(['req_1', 'slice_1', 'org_1'].includes(broken?.id ?? '') || broken?.id.startsWith('cre_'), sql)
      }
      assert.equal((await scene.verify()).broken, null)
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const { clock } = createHandClock()
  const ids = createIds(clock, systemRandom)
  for (const id of ['org_1', 'org_2']) {
    await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf(id)))
  }
  const ledger = ledgerStore(database, { ids, clock })
  const grants = (tx: Transaction) => grantStore(tx, { ids, clock, engine: database.engine })
  const grant = { organizationId: 'org_1', kind: 'grant', ref: 'start', micro: 1_000, note: '' } as const
  await database.transaction((tx) => grants(tx).grant(grant))
  const slice = { id: 'slice_1', organizationId: 'org_1', holder: 'node', epoch: 'life' } as const
  await ledger.openSlice(slice, { leastMicro: 100, wantedMicro: 100 })
  const first: Charge = { ...chargeOf('req_1', 30, 'slice_1'), atMs: hourMs + 1 }
  await ledger.settle(first)
  await ledger.settle({ ...chargeOf('req_2', 20, 'slice_1'), atMs: 2 * hourMs, model: 'other-model' })
  const reports = ledgerReports(database, { clock, userDays: 90 })
  return {
    ledger,
    verify: () => database.transaction(({ query }) => verifyThrough(query, database)),
    reports,
    first,
    correct: (correction: Omit<NewGrant, 'kind'>) => database.transaction((tx) => grants(tx).correct(correction)),
    /** The result of the check after a change, which is then rolled back. */
    async after(sql: string, nowMs = 0): Promise<LedgerVerification> {
      let verification: LedgerVerification | undefined
      await assert.rejects(
        database.transaction(async (tx) => {
          await tx.run(sql)
          verification = await verifyThrough(tx.query, { engine: database.engine, nowMs })
          throw new Error('undone')
        }),
        /undone/,
      )
      return verification ?? assert.fail()
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
