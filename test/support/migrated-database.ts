import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { databaseFileName } from '../../src/adapters/stores/sql/sqlite/data-folder.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { databaseOf } from './pglite.ts'
import { copyScratchDatabase, createScratchDatabase, type ScratchDatabase } from './postgres.ts'

/*
 * Databases with all tables and no organization. Most tests start with one, and applying every migration takes a quarter of a
 * second to two seconds, so the first test of a run does it for each engine and the others copy the result.
 */

const migrations = await readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)))
const sql = '../../src/adapters/stores/sql'
const digest = createHash('sha256')
  .update(migrations.map(({ checksum }) => checksum).join())
  .update(readFileSync(new URL(`${sql}/migrate.ts`, import.meta.url)))
  .update(readFileSync(new URL(`${sql}/migration-statements.ts`, import.meta.url)))
  // A migration makes partitions from today on.
  .update(new Date().toISOString().slice(0, 10))
  .digest('hex')
  .slice(0, 16)

/** Puts an SQLite database into an empty data folder. */
export async function copyMigratedSqlite(folder: string): Promise<void> {
  const template = await templateFile('sqlite', async (path) => {
    const building = mkdtempSync(join(tmpdir(), 'gatehouse-template-'))
    {
      await using database = await openSqlite({ dataDir: building })
      await migrate(database, migrations)
    }
    renameSync(join(building, databaseFileName), path)
    rmSync(building, { recursive: true })
  })
  copyFileSync(template, join(folder, databaseFileName))
}

export async function createMigratedPglite(): Promise<PGlite> {
  const template = await templateFile('pglite', async (path) => {
    await using pglite = await PGlite.create()
    await migrate(databaseOf(pglite), migrations)
    writeFileSync(path, await (await pglite.dumpDataDir('none')).bytes())
  })
  return PGlite.create({ loadDataDir: new Blob([readFileSync(template)]) })
}

/** On the test server. Disposing drops it. */
export const createMigratedDatabase = (): Promise<ScratchDatabase> =>
  copyScratchDatabase(`template_${digest}`, async () => {
    const building = await createScratchDatabase()
    await using database = await openPostgres({ url: building.url, answerTimeoutMs: 60_000 })
    await migrate(database, migrations)
    return building
  })

/** The path of a file that the first process of a test run makes. Others that start meanwhile make an equal one. */
async function templateFile(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(tmpdir(), `gatehouse-template-${name}-${digest}`)
  if (existsSync(path)) return path
  const unfinished = `${path}.${randomBytes(4).toString('hex')}`
  await make(unfinished)
  renameSync(unfinished, path)
  return path
}
