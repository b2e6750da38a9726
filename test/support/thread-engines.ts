import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import type { ReadSource } from '../../src/adapters/stores/sql/verification/reader.ts'
import { createScratchDatabase, withoutPostgres } from './postgres.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A database, and where another thread reads it. */
export type ThreadDatabase = { readonly database: Database; readonly source: ReadSource; readonly folder?: string }

export const threadEngines = [
  { name: 'SQLite', skip: false as const, open: openEmbedded },
  { name: 'PostgreSQL', skip: withoutPostgres, open: openShared },
]

async function openEmbedded(resources: AsyncDisposableStack): Promise<ThreadDatabase> {
  const { path } = await temporaryFolder()
  after(() => rm(path, { recursive: true }))
  const database = resources.use(await openSqlite({ dataDir: path, hasRedoLog: true }))
  return { database, source: { engine: 'sqlite', path: join(path, 'gatehouse.db') }, folder: path }
}

async function openShared(resources: AsyncDisposableStack): Promise<ThreadDatabase> {
  const { url } = resources.use(await createScratchDatabase())
  const database = resources.use(await openPostgres({ url, answerTimeoutMs: 10_000 }))
  return { database, source: { engine: 'postgres', url } }
}
