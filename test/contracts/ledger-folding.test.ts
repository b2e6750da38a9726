import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerBalances } from '../../src/adapters/stores/sql/credits/ledger-balances.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { verifyLedger } from '../../src/adapters/stores/sql/credits/verification/verify-ledger.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import type { VerificationThreads } from '../../src/adapters/stores/sql/verification/threads.ts'
import { foldLedger } from '../../src/app/storage/ledger-folding.ts'
import { dayMs, type Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { lastMonthBefore } from '../../src/domain/credits/month.ts'
import { createKeyringEncryption } from '../../src/domain/server-secret/keyring-encryption.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import { setClock } from '../support/audit-log.ts'
import { chargeOf, organizationOf } from '../support/credits.ts'
import { engines } from '../support/engines.ts'

for (const { name, skip, open } of engines) {
  describe(`folding the ledger: ${name}`, { skip }, () => {
    it('replaces the charges of old months by a balance, and the ledger adds up at every moment', async () => {
      await using scene = await openScene(open)
      const before = await scene.account()
      assert.deepEqual(await scene.months(), ['2026-01', '2026-02', '2026-03', '2026-04'])
      let pauses = 0
      await scene.fold(async () => {
        pauses++
        assert.equal((await scene.verify()).broken, null)
      })
      assert.ok(pauses > 1)
      assert.deepEqual(await scene.months(), ['2026-03', '2026-04'])
      assert.deepEqual(await scene.account(), before)
      assert.equal((await scene.verify()).broken, null)
      assert.deepEqual(await scene.kinds(), ['grant', 'slice', 'usage'])
      assert.deepEqual([...(await scene.balances.read()).balances.keys()], ['org_1'])
      await scene.fold()
      await scene.spend('later', 3)
      assert.equal((await scene.verify()).broken, null)
    })

    it('continues a month later from the balance before', async () => {
      await using scene = await openScene(open)
      await scene.fold()
      scene.clock.passMs(31 * dayMs)
      await scene.spend('may', 3)
      await scene.fold()
      assert.deepEqual(await scene.months(), ['2026-04', '2026-05'])
      assert.equal((await scene.verify()).broken, null)
    })

    it('ends cleanly when the process is killed between two steps', async () => {
      await using scene = await openScene(open)
      await assert.rejects(scene.fold(() => Promise.reject(new Error('killed'))))
      assert.equal((await scene.verify()).broken, null)
      await scene.fold()
      assert.deepEqual(await scene.months(), ['2026-03', '2026-04'])
      assert.equal((await scene.verify()).broken, null)
    })

    it('reports no inconsistency if another node folds while this one verifies', async () => {
      await using scene = await openScene(open)
      let isOther = false
      await scene.fold(
        async () => undefined,
        async () => {
          if (!isOther) await ((isOther = true), scene.fold())
        },
      )
      assert.ok(isOther)
      assert.deepEqual([scene.errors, await scene.months()], [[], ['2026-03', '2026-04']])
      assert.equal((await scene.verify()).broken, null)
    })

    it('removes the old charges of an organization that never pays', async () => {
      await using scene = await openScene(open)
      await scene.database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf('org_2')))
      for (const month of [0, 1, 2, 3]) {
        const charge = chargeOf(`free ${month}`, 0, null)
        await scene.ledger.settle({ ...charge, organizationId: 'org_2', atMs: Date.UTC(2026, month, 3) })
      }
      await scene.fold()
      const left = await scene.database.read<{ at: number }>(`select at from charge where organization_id = 'org_2'`)
      assert.equal(left.length, 2)
    })

    it('removes nothing from a ledger that is inconsistent', async () => {
      await using scene = await openScene(open)
      await scene.run(`update charge set micro = micro + 1 where request_id = 'jan 1'`)
      await scene.fold()
      assert.deepEqual(await scene.months(), ['2026-01', '2026-02', '2026-03', '2026-04'])
      assert.equal((await scene.balances.read()).balances.size, 0)
      assert.match(scene.errors.join(), /inconsistent/)
    })

    it('leaves nothing that somebody could change without being found', async () => {
      for (const [sql, table] of [
        ['update credit_account set spent = spent - 1, available = available + 1', 'credit_account'],
        ['delete from ledger_balance', 'credit_slice'],
        [`update ledger_balance set month = '2026-03'`, 'ledger_balance'],
        [`delete from credit_entry where ref = 'mar 1'`, 'charge'],
      ] as const) {
        await using scene = await openScene(open)
        await scene.fold()
        await scene.run(sql)
        assert.equal((await scene.verify()).broken?.table, table, sql)
      }
    })
  })
}

it('a month is folded once it ended before the time that is kept', () => {
  assert.deepEqual(lastMonthBefore(Date.UTC(2026, 2, 15)), { month: '2026-02', endMs: Date.UTC(2026, 2, 1) })
  assert.deepEqual(lastMonthBefore(Date.UTC(2026, 0, 1)), { month: '2025-12', endMs: Date.UTC(2026, 0, 1) })
})

/** An organization with charges in the first months of a year. Its slices are closed each month, but for one that stays open. */
async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const clock = setClock(Date.UTC(2026, 0, 10))
  const parts = { ids: createIds(clock, systemRandom), clock }
  await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf('org_1')))
  const ledger = ledgerStore(database, parts)
  const grant = { organizationId: 'org_1', kind: 'grant', ref: 'start', micro: 1_000_000, note: '' } as const
  await database.transaction((tx) => grantStore(tx, { ...parts, engine: database.engine }).grant(grant))
  const openSlice = (id: string) =>
    ledger.openSlice({ id, organizationId: 'org_1', holder: 'node', epoch: id }, { leastMicro: 1, wantedMicro: 50_000 })
  const spend = async (prefix: string, count: number, sliceId: string | null = 'slice_open'): Promise<void> => {
    clock.passMs(1_000)
    const micro = sliceId === null ? 0 : 10
    const requests = Array.from({ length: count }, (_, at) => `${prefix} ${at}`)
    const atMs = clock.nowMs()
    await Promise.all(requests.map((requestId) => ledger.settle({ ...chargeOf(requestId, micro, sliceId), atMs })))
  }
  await openSlice('slice_open')
  for (const [at, month] of ['jan', 'feb', 'mar', 'apr'].entries()) {
    clock.setMs(Date.UTC(2026, at, 10))
    const own = `slice_${month}`
    await openSlice(own)
    await spend(month, month === 'jan' ? 250 : 20)
    await spend(`${month} own`, 5, own)
    await spend(`${month} free`, 3, null)
    clock.setMs(Date.UTC(2026, at + 1, 2)) // the slice is closed in the month after
    if (at < 3) await ledger.closeSlice(own)
  }
  clock.setMs(Date.UTC(2026, 3, 15))
  const encryption = createKeyringEncryption(
    createKeyring({ current: 'a secret for tests' }),
    'ledger balances',
    systemRandom,
  )
  const balances = ledgerBalances(database, encryption)
  const errors: string[] = []
  const verifyWith = (input: object) =>
    database.transaction(({ query }) => {
      const reads = { query, snapshot: <T>(work: (same: Transaction['query']) => Promise<T>) => work(query) }
      return verifyLedger(reads, { engine: database.engine, nowMs: clock.nowMs(), ...input })
    })
  return {
    database,
    clock,
    ledger,
    balances,
    spend,
    errors,
    run: (sql: string) => database.write([{ sql }]),
    verify: async () => (await verifyWith(await balances.read())).verification,
    async fold(onPause = async (): Promise<void> => undefined, beforeVerification = onPause) {
      const failed = Promise.withResolvers<never>()
      const after: Clock['after'] = (_, callback) => {
        const pause = async (): Promise<void> => {
          await onPause()
          callback()
        }
        pause().catch(failed.reject)
        return () => undefined
      }
      const run = (async (_kind: string, input: object) => {
        await beforeVerification()
        return await verifyWith(input)
      }) as VerificationThreads['run']
      const folding = foldLedger({
        database,
        balances,
        clock: { ...clock, after },
        keepMs: 31 * dayMs,
        verification: { run },
        log: { info: () => undefined, error: (_: unknown, message?: string) => void errors.push(message ?? '') },
      })
      await Promise.race([folding, failed.promise])
    },
    async account() {
      return await database.read('select granted, available, held, spent from credit_account')
    },
    async kinds() {
      const rows = await database.read<{ kind: string }>('select distinct kind from credit_entry order by kind')
      return rows.map(({ kind }) => kind)
    },
    async months() {
      const rows = await database.read<{ at: number }>('select at from charge order by at')
      return [...new Set(rows.map(({ at }) => new Date(at).toISOString().slice(0, 7)))]
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
