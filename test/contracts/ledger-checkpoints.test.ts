import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { ledgerCheckpoints } from '../../src/adapters/stores/sql/credits/ledger-checkpoints.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { verifyLedger } from '../../src/adapters/stores/sql/credits/verification/verify-ledger.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { hourMs } from '../../src/base/clock.ts'
import { createIds, lowestIdAt } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import { setClock } from '../support/audit-log.ts'
import { chargeOf, organizationOf } from '../support/credits.ts'
import { engines } from '../support/engines.ts'

for (const { name, skip, open } of engines) {
  describe(`checkpoints of the ledger: ${name}`, { skip }, () => {
    it('let a verification continue, which reads only what was written since', async () => {
      await using scene = await openScene(open)
      const full = await scene.verify()
      assert.deepEqual([full.broken, full.continued, full.entries], [null, 0, 4])
      await scene.settle('req_3')
      await scene.ledger.closeSlice('slice_1')
      const continued = await scene.verify({ isSinceCheckpoint: true })
      assert.deepEqual([continued.broken, continued.continued, continued.entries], [null, 1, 2])
      assert.equal((await scene.verify()).broken, null)
    })

    it('are for entries that were written: changes of older rows are only seen by a full verification', async () => {
      await using scene = await openScene(open)
      await scene.verify()
      await scene.run(`update credit_entry set note = 'raised' where ref = 'req_1'`)
      assert.equal((await scene.verify({ isSinceCheckpoint: true })).broken, null)
      assert.equal((await scene.verify()).broken?.table, 'credit_slice')
    })

    it('hide no change of the sums', async () => {
      await using scene = await openScene(open)
      await scene.verify()
      await scene.run('update credit_account set held = held + 1, available = available - 1')
      const { broken, continued } = await scene.verify({ isSinceCheckpoint: true })
      assert.deepEqual([broken?.table, continued], ['credit_account', 0])
    })

    it('cause no finding if an entry was written late, with an id before the checkpoint', async () => {
      await using scene = await openScene(open)
      await scene.verify()
      await scene.settle('req_late')
      const { body } = await scene.readRow()
      const { lastEntryId } = JSON.parse(body) as { lastEntryId: string }
      const lateId = lowestIdAt('cre', 1)
      assert.ok(lateId < lastEntryId)
      await scene.run(`update charge set id = '${lateId}' where request_id = 'req_late'`)
      await scene.run(`update credit_entry set id = '${lateId}' where ref = 'req_late'`)
      assert.equal((await scene.verify({ isSinceCheckpoint: true })).broken, null)
    })

    it('are ignored if another key or nobody signed them', async () => {
      await using scene = await openScene(open)
      await scene.verify()
      assert.equal((await scene.checkpoints.read()).size, 1)
      assert.equal((await ledgerCheckpoints(scene.database, createKeyring({ current: 'other' })).read()).size, 0)
      const rotated = createKeyring({ current: 'other', previous: 'a secret for tests' })
      assert.equal((await ledgerCheckpoints(scene.database, rotated).read()).size, 1)
      await scene.run(`update ledger_checkpoint set body = replace(body, 'granted', 'Granted')`)
      assert.equal((await scene.checkpoints.read()).size, 0)
      assert.equal((await scene.verify({ isSinceCheckpoint: true })).continued, 0)
    })
  })
}

/** An organization with a grant, a slice and two charges, an hour before it is verified. */
async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const clock = setClock()
  const parts = { ids: createIds(clock, systemRandom), clock }
  await database.transaction((tx) => directoryStore(tx).insertOrganization(organizationOf('org_1')))
  const ledger = ledgerStore(database, parts)
  const grant = { organizationId: 'org_1', kind: 'grant', ref: 'start', micro: 1_000, note: '' } as const
  await database.transaction((tx) => grantStore(tx, { ...parts, engine: database.engine }).grant(grant))
  const slice = { id: 'slice_1', organizationId: 'org_1', holder: 'node', epoch: 'life' } as const
  await ledger.openSlice(slice, { leastMicro: 100, wantedMicro: 100 })
  const settle = (requestId: string) => ledger.settle({ ...chargeOf(requestId, 10, 'slice_1'), atMs: clock.nowMs() })
  await settle('req_1')
  await settle('req_2')
  clock.passMs(hourMs)
  const checkpoints = ledgerCheckpoints(database, createKeyring({ current: 'a secret for tests' }))
  return {
    database,
    ledger,
    settle,
    checkpoints,
    run: (sql: string) => database.write([{ sql }]),
    async readRow(): Promise<{ body: string }> {
      const [row] = await database.read<{ body: string }>('select body from ledger_checkpoint')
      return row ?? assert.fail()
    },
    async verify({ isSinceCheckpoint = false } = {}) {
      const known = isSinceCheckpoint ? await checkpoints.read() : new Map()
      const input = { engine: database.engine, nowMs: clock.nowMs(), checkpoints: known }
      const { verification, ...found } = await database.transaction(({ query }) =>
        verifyLedger({ query, snapshot: <T>(work: (same: Transaction['query']) => Promise<T>) => work(query) }, input),
      )
      if (!isSinceCheckpoint) await checkpoints.save(found.checkpoints, clock.nowMs())
      return verification
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
