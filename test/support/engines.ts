import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { closePglite, openPglite } from './pglite.ts'
import { createScratchDatabase, withoutPostgres } from './postgres.ts'
import { temporaryFolder } from './temporary-folder.ts'

const migrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url))

export type Engine = {
  readonly name: string
  readonly skip: string | false
  /** Whether two transactions can run concurrently. */
  readonly isParallel: boolean
  /** A database with all tables and no organization. */
  open(): Promise<Database>
}

const owned = new AsyncDisposableStack()
after(() => owned.disposeAsync())

/** Every engine that a store must work on. */
export const engines: readonly Engine[] = [
  {
    name: 'SQLite',
    skip: false,
    isParallel: false,
    async open() {
      const resources = new AsyncDisposableStack()
      const folder = resources.use(await temporaryFolder())
      const database = resources.use(await openSqlite({ dataDir: folder.path, hasRedoLog: true }))
      await migrate(database, await readMigrations(migrationsDir))
      return { ...database, [Symbol.asyncDispose]: () => resources.disposeAsync() }
    },
  },
  {
    name: 'PGlite',
    skip: false,
    isParallel: false,
    open: emptied(() => {
      owned.defer(closePglite)
      return openPglite()
    }),
  },
  {
    name: 'PostgreSQL',
    skip: withoutPostgres,
    isParallel: true,
    open: emptied(async () => {
      const scratch = owned.use(await createScratchDatabase())
      return owned.use(await openPostgres({ url: scratch.url, answerTimeoutMs: 10_000 }))
    }),
  },
]

/** Tests that run one after the other share a database, because creating one takes a second and emptying one does not. */
function emptied(make: () => Promise<Database>): Engine['open'] {
  let shared: Promise<Database> | undefined
  return async () => {
    shared ??= make().then(async (database) => {
      await migrate(database, await readMigrations(migrationsDir))
      return database
    })
    const database = await shared
    await database.write([{ sql: 'truncate organization cascade' }])
    return { ...database, async [Symbol.asyncDispose]() {} }
  }
}
