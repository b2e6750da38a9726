import { after } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { closePglite, openPglite } from '../support/pglite.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { databaseContract, type OpenOptions } from './database.contract.ts'
import { migrateContract } from './migrate.contract.ts'
import { gatewayCasesMigrationContract } from './gateway-cases-migration.contract.ts'
import { rollupMigrationContract } from './rollup-migration.contract.ts'

after(closePglite)

for (const contract of [databaseContract, migrateContract, rollupMigrationContract, gatewayCasesMigrationContract]) {
  for (const hasRedoLog of [false, true]) {
    contract(hasRedoLog ? 'SQLite with a redo log' : 'SQLite', async (options?: OpenOptions) => {
      const folder = await temporaryFolder()
      return disposingAlso(await openSqlite({ dataDir: folder.path, hasRedoLog, ...options }), folder)
    })
  }
  contract('PGlite', openPglite, { isSingleSession: true })
  contract(
    'PostgreSQL',
    async (options?: OpenOptions) => {
      const scratch = await createScratchDatabase()
      return disposingAlso(await openPostgres({ url: scratch.url, answerTimeoutMs: 10_000, ...options }), scratch)
    },
    { skip: withoutPostgres },
  )
}

/** The database; disposing also removes its folder. */
function disposingAlso(database: Database, place: AsyncDisposable): Database {
  const owned = new AsyncDisposableStack()
  owned.use(place)
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      await owned.disposeAsync()
    },
  }
}
