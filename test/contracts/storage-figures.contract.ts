import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dayMs } from '../../src/base/clock.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { countStored, databaseBytes, oldestRows } from '../../src/adapters/stores/sql/storage-figures.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const startMs = Date.UTC(2026, 0, 1)

/** The size of the database, and its oldest rows that a job should have removed, on every engine. */
export function storageFiguresContract({ name, skip, open }: Engine): void {
  describe(`the figures of storage: ${name}`, { skip }, () => {
    it('have no oldest rows while there are none', async () => {
      await using database = await open()
      assert.deepEqual(await oldestRows(database), { eventAtMs: null, deltaAtMs: null })
    })

    it('name the oldest event of all organizations, and the oldest delta until it is folded', async () => {
      await using database = await open()
      const clock = setClock(startMs)
      const log = await openAuditLog(database, clock, ['org_1', 'org_2', 'org_3'])
      await log.append(1, {}, 'org_2')
      clock.passMs(5_000)
      await log.append(2, {}, 'org_1')
      assert.deepEqual(await oldestRows(database), { eventAtMs: startMs, deltaAtMs: startMs })
      while (!(await foldStoredDeltas(database))) continue
      assert.deepEqual(await oldestRows(database), { eventAtMs: startMs, deltaAtMs: null })
    })

    it('count the requests of the last week, and those that expire in the next one', async () => {
      await using database = await open()
      const clock = setClock(startMs)
      const log = await openAuditLog(database, clock)
      await log.append(3)
      await log.append(1, {}, 'org_2')
      clock.passMs(25 * dayMs)
      await log.append(2, {}, 'org_2')
      clock.passMs(dayMs)
      while (!(await foldStoredDeltas(database))) continue
      const counts = { events: 6, eventsEver: 6, requestsLastWeek: 2 }
      const countWith = (days: number) => countStored(database, { nowMs: clock.nowMs(), retentionMs: days * dayMs })
      assert.deepEqual(await countWith(30), { ...counts, requestsExpiring: 4 })
      assert.deepEqual(await countWith(34), { ...counts, requestsExpiring: 0 })
    })

    it('have the bytes that the database uses', async () => {
      await using database = await open()
      await using folder = await temporaryFolder()
      if (database.engine === 'sqlite') {
        for (const [file, bytes] of [
          ['gatehouse.db', 4096],
          ['gatehouse.db-wal', 512],
        ] as const) {
          writeFileSync(join(folder.path, file), '')
          truncateSync(join(folder.path, file), bytes)
        }
        assert.equal(await databaseBytes(database, folder.path), 4608)
      } else assert.ok((await databaseBytes(database, folder.path)) > 1_000_000)
    })
  })
}
