import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { createEncodingThread } from '../../src/app/encoding-thread/thread.ts'
import { migrationsDir } from '../../src/app/storage/storage.ts'
import { auditExportPage } from '../../src/http/admin/audit-logs/export.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { threadEngines, type ThreadDatabase } from '../support/thread-engines.ts'

for (const { name, skip, open } of threadEngines) {
  describe(`the encoding thread: ${name}`, { skip }, () => {
    it('encodes a page as the main thread does, with every event whose write resolved', async () => {
      await using scene = await openScene(open)
      for (const count of [450, 1]) {
        await scene.log.append(count)
        const page = await scene.read({ limit: 400, order: 'desc' })
        assert.equal(page.count, 400)
        assert.deepEqual(page, await auditExportPage(scene.log.reads, inputOf({ limit: 400, order: 'desc' })))
      }
    })

    it('rejects with the fault of the other thread', async () => {
      await using scene = await openScene(open)
      await scene.log.append(1)
      const page = scene.read({ limit: 1, order: 'asc', after: 'evt_nobody' })
      await assert.rejects(page, { kind: 'malformed', code: 'invalid_cursor', details: { param: 'after' } })
    })

    it('starts again after it died', async () => {
      await using scene = await openScene(open)
      await scene.log.append(10)
      process.once('worker', (worker) => void worker.terminate())
      await assert.rejects(scene.read({ limit: 20, order: 'asc' }), { code: 'storage_unavailable' })
      assert.equal((await scene.read({ limit: 20, order: 'asc' })).count, 10)
    })

    it('ends before the database is closed, and leaves nothing of it open', async () => {
      const scene = await openScene(open)
      await scene.log.append(10)
      await scene.read({ limit: 20, order: 'asc' })
      await scene[Symbol.asyncDispose]()
      await assert.rejects(scene.read({ limit: 20, order: 'asc' }), { code: 'storage_unavailable' })
      const files = scene.folder === undefined ? [] : await readdir(scene.folder)
      assert.deepEqual(
        files.filter((file) => file.endsWith('-wal')),
        [],
      )
    })
  })
}

describe('the encoding thread', () => {
  it('is ended at the deadline of a page, which says what to narrow', async () => {
    const [sqlite] = threadEngines
    await using scene = await openScene(sqlite?.open, 1)
    await scene.log.append(1)
    // The thread needs longer than a millisecond to start.
    await assert.rejects(scene.read({ limit: 1, order: 'asc' }), { code: 'report_timeout' })
  })
})

type Page = Parameters<typeof auditExportPage>[1]['page']

const inputOf = (page: Page) => ({ organizationId: 'org_1', filter: {}, format: 'ndjson', page }) as const

async function openScene(
  open: ((resources: AsyncDisposableStack) => Promise<ThreadDatabase>) | undefined,
  timeoutMs = 10_000,
) {
  const resources = new AsyncDisposableStack()
  if (open === undefined) throw new Error('no engine')
  const { database, source, folder } = await open(resources)
  await migrate(database, await readMigrations(migrationsDir))
  const log = await openAuditLog(database)
  const reads = source.engine === 'sqlite' ? source : { ...source, timeoutMs, poolSize: 2 }
  const thread = resources.use(createEncodingThread({ database, source: reads, timeoutMs }))
  return {
    log,
    folder,
    read: (page: Page) => thread.run('auditExport', inputOf(page)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
