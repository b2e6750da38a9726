import { after } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { copyMigratedSqlite, createMigratedDatabase, createMigratedPglite } from './migrated-database.ts'
import { databaseOf } from './pglite.ts'
import { withoutPostgres } from './postgres.ts'
import { temporaryFolder } from './temporary-folder.ts'

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
      await copyMigratedSqlite(folder.path)
      const database = resources.use(await openSqlite({ dataDir: folder.path, hasRedoLog: true }))
      return { ...database, [Symbol.asyncDispose]: () => resources.disposeAsync() }
    },
  },
  {
    name: 'PGlite',
    skip: false,
    isParallel: false,
    open: emptied(async () => {
      const pglite = await createMigratedPglite()
      owned.defer(() => pglite.close())
      return databaseOf(pglite)
    }),
  },
  {
    name: 'PostgreSQL',
    skip: withoutPostgres,
    isParallel: true,
    open: emptied(async () => {
      const scratch = owned.use(await createMigratedDatabase())
      return owned.use(await openPostgres({ url: scratch.url, answerTimeoutMs: 10_000 }))
    }),
  },
]

/** Tests that run one after the other share a database, because creating one takes a second and emptying one does not. */
function emptied(make: () => Promise<Database>): Engine['open'] {
  let shared: Promise<Database> | undefined
  return async () => {
    shared ??= make()
    const database = await shared
    await database.write([{ sql: 'truncate organization cascade' }])
    return { ...database, async [Symbol.asyncDispose]() {} }
  }
}
