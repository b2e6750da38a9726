import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withErrorMapping } from '../../src/adapters/stores/sql/error-mapping.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createJournal } from '../../src/domain/audit/journal.ts'
import { openAuditLog, requestFacts } from '../support/audit-log.ts'
import { rejectsWith } from '../support/rejects-with.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('a full disk rejects events, and the log stays whole with every acknowledged event', async () => {
  await using folder = await temporaryFolder()
  await using sqlite = await openSqlite({ dataDir: folder.path, maxPages: 300, hasRedoLog: true })
  await migrate(sqlite, await readMigrations(new URL('../../migrations', import.meta.url).pathname))
  const database = withErrorMapping(sqlite)
  const { appender, events, clock, verify } = await openAuditLog(database)
  const journal = createJournal({
    appender,
    events,
    clock,
    isAuditRequired: () => true,
    backlog: null,
    onLost: () => {},
  })
  const acknowledged: string[] = []
  const rejections: unknown[] = []
  for (let wave = 0; rejections.length === 0; wave++) {
    const ids = Array.from({ length: 20 }, (_, at) => `evt_${wave}_${at}`)
    const recorded = ids.map((id) => journal.record('org_1', () => requestFacts({}, clock), { id }).then(() => id))
    for (const outcome of await Promise.allSettled(recorded)) {
      if (outcome.status === 'fulfilled') acknowledged.push(outcome.value)
      else rejections.push(outcome.reason)
    }
  }
  assert.ok(acknowledged.length > 0)
  assert.ok(rejections.every(rejectsWith('audit_unavailable')))
  const stored = await database.read<{ id: string }>('select id from audit_event order by sequence')
  assert.deepEqual(
    stored.map(({ id }) => id),
    acknowledged,
  )
  const { checked, finding } = await verify()
  assert.deepEqual([checked, finding], [acknowledged.length, undefined])
})
