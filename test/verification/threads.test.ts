import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { grantStore } from '../../src/adapters/stores/sql/credits/grants.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import {
  createVerificationThreads,
  type VerificationOptions,
} from '../../src/adapters/stores/sql/verification/threads.ts'
import { migrationsDir } from '../../src/app/storage/storage.ts'
import { hourMs, systemClock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { VerifyCursor, VerifyProgress } from '../../src/domain/audit/verify-log.ts'
import { noBalances } from '../../src/domain/credits/ledger-verification.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { chargeOf } from '../support/credits.ts'
import { threadEngines, type ThreadDatabase } from '../support/thread-engines.ts'

for (const { name, skip, open } of threadEngines) {
  describe(`verification threads: ${name}`, { skip }, () => {
    it('verify an audit log as the main thread does, with every event whose write resolved', async () => {
      await using scene = await openScene(open)
      await scene.log.append(450)
      const expected = await scene.log.verify()
      assert.deepEqual(await scene.verifyLog(), expected)
      assert.equal(expected.checked, 450)
      await scene.database.write([
        { sql: `update audit_body set body = replace(body, 'event 7', 'event 8') where sequence = 8` },
      ])
      assert.deepEqual((await scene.verifyLog()).finding, { sequence: 8, reason: 'altered' })
    })

    it('leave the event loop free: other work runs between the reports of progress', async () => {
      await using scene = await openScene(open)
      await scene.log.append(1_000)
      const order: string[] = []
      const turns = setInterval(() => order.push('turn'), 0)
      await scene.verifyLog({ onProgress: () => order.push('progress') })
      clearInterval(turns)
      assert.equal(order.filter((each) => each === 'progress').length, 4)
      assert.ok(order.indexOf('turn') < order.indexOf('progress'))
    })

    it('continue an audit log after the event that a report of progress names', async () => {
      await using scene = await openScene(open)
      await scene.log.append(450)
      const cursors: (VerifyCursor | undefined)[] = []
      const whole = await scene.verifyLog({ onProgress: ({ cursor }) => cursors.push(cursor) })
      const [resumeAt] = cursors
      assert.equal(resumeAt?.sequence, 256)
      assert.deepEqual(await scene.verifyLog({ resumeAt }), whole)
      await scene.database.write([{ sql: `update audit_body set body = '{}' where sequence in (150, 300)` }])
      const { checked, finding } = await scene.verifyLog({ resumeAt })
      assert.deepEqual([checked, finding], [299, { sequence: 300, reason: 'altered' }])
      const forged = resumeAt && { ...resumeAt, fingerprint: 'f'.repeat(64) }
      assert.deepEqual((await scene.verifyLog({ resumeAt: forged })).finding, { sequence: 257, reason: 'unlinked' })
    })

    it('end when their signal is aborted, and reject with its reason', async () => {
      await using scene = await openScene(open)
      await scene.log.append(1_000)
      const abort = new AbortController()
      const stopped = scene.verifyLog({ signal: abort.signal, onProgress: () => abort.abort(new Error('enough')) })
      await assert.rejects(stopped, /enough/)
      assert.equal((await scene.verifyLog()).checked, 1_000)
    })

    it('end before the database is closed, and leave nothing of it open', async () => {
      const scene = await openScene(open)
      await scene.log.append(1_000)
      let closing: Promise<void> | undefined
      const stopped = scene.verifyLog({ onProgress: () => void (closing ??= scene[Symbol.asyncDispose]()) })
      await assert.rejects(stopped, { kind: 'unavailable' })
      await closing
      const files = scene.folder === undefined ? [] : await readdir(scene.folder)
      assert.deepEqual(
        files.filter((file) => file.endsWith('-wal')),
        [],
      )
    })

    it('reject if a thread dies, without harm to the process', async () => {
      await using scene = await openScene(open)
      await scene.log.append(10)
      process.once('worker', (worker) => void worker.terminate())
      await assert.rejects(scene.verifyLog(), /thread of the verification has ended/)
      assert.equal((await scene.verifyLog()).checked, 10)
    })

    it('find no inconsistency while charges, grants and slices are written', async () => {
      await using scene = await openScene(open)
      const writing = writeLedger(scene.database)
      for (let round = 0; round < 4; round++) {
        assert.equal((await scene.verifyLedger()).broken, null)
        // An hour later all entries are read before the snapshot, and those that were written meanwhile in it.
        assert.equal((await scene.verifyLedger(systemClock.nowMs() + hourMs)).broken, null)
      }
      const charges = await writing.stop()
      assert.deepEqual(await scene.verifyLedger().then((found) => [found.broken, found.charges]), [null, charges])
    })

    it('name the inconsistent row of the ledger', async () => {
      await using scene = await openScene(open)
      await writeLedger(scene.database).stop()
      await scene.database.write([{ sql: 'update credit_account set held = held + 1, available = available - 1' }])
      const { broken } = await scene.verifyLedger()
      assert.deepEqual([broken?.table, broken?.id], ['credit_account', 'org_1'])
    })
  })
}

async function openScene(open: (resources: AsyncDisposableStack) => Promise<ThreadDatabase>) {
  const resources = new AsyncDisposableStack()
  const { database, source, folder } = await open(resources)
  await migrate(database, await readMigrations(migrationsDir))
  const log = await openAuditLog(database)
  const threads = resources.use(createVerificationThreads(database, source))
  return {
    database,
    log,
    folder,
    verifyLog: ({ resumeAt, ...options }: VerifyOptions = {}) =>
      threads.run('auditLog', { ...log.verifyInput(), organizationId: 'org_1', resumeAt }, options),
    verifyLedger: async (nowMs = systemClock.nowMs()) =>
      (await threads.run('ledger', { nowMs, checkpoints: new Map(), ...noBalances })).verification,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

type VerifyOptions = VerificationOptions<VerifyProgress> & { readonly resumeAt?: VerifyCursor | undefined }

/** Grants, opens slices, charges and closes slices until it is stopped. */
function writeLedger(database: Database) {
  const parts = { ids: createIds(systemClock, systemRandom), clock: systemClock }
  const ledger = ledgerStore(database, parts)
  let isStopping = false
  let charges = 0

  async function writeRound(): Promise<void> {
    const grant = { organizationId: 'org_1', kind: 'grant', ref: parts.ids('ref'), micro: 100_000, note: '' } as const
    await database.transaction((tx) => grantStore(tx, { ...parts, engine: database.engine }).grant(grant))
    const slice = {
      id: parts.ids('slice'),
      organizationId: 'org_1',
      holder: 'node',
      epoch: parts.ids('epoch'),
    } as const
    await ledger.openSlice(slice, { leastMicro: 1, wantedMicro: 1_000 })
    const settled = Array.from({ length: 20 }, (_, at) => ledger.settle(chargeOf(parts.ids('req'), at, slice.id)))
    await ledger.topUpSlice(slice.id, { leastMicro: 1, wantedMicro: 500 })
    charges += (await Promise.all(settled)).length
    await ledger.closeSlice(slice.id)
  }

  async function writeAll(): Promise<void> {
    while (!isStopping) await writeRound()
  }

  const running = writeAll()
  return {
    /** Returns the number of charges. */
    async stop(): Promise<number> {
      isStopping = true
      await running
      return charges
    },
  }
}
