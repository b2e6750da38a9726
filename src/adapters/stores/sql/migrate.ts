import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../../base/clock.ts'
import type { Database, Transaction } from './database.ts'
import { toStatements } from './migration-statements.ts'

/** One numbered file of the migrations folder. */
export type Migration = {
  readonly number: number
  readonly name: string
  /** SHA-256 of the text: an applied file must never change. */
  readonly checksum: string
  readonly sql: string
}

/** A later version has migrated the database. Only a backup restores the old version. */
export class DatabaseTooNew extends Error {
  constructor(migration: string) {
    super(
      `The database is newer than this program: it has migration ${migration}, which is not known here. ` +
        'Start the version that migrated it or a later one, or restore a backup from before the upgrade.',
    )
    this.name = 'DatabaseTooNew'
  }
}

type Applied = { number: number; name: string; checksum: string }

/** An arbitrary number, the same on every node. */
const advisoryLock = 4_617_315

export const migrationTable = `create table if not exists migration
  (number INTEGER primary key, name TEXT not null, checksum TEXT not null, applied_at INTEGER not null) STRICT`

/**
 * Applies the missing migrations and returns how many. Each is one transaction. Nodes that start together wait for one another, and
 * the later ones have nothing to apply. On PostgreSQL, pass a database without a statement timeout.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  clock: Clock = systemClock,
): Promise<number> {
  let count = 0
  while (await database.transaction((tx) => applyNext(tx, { database, migrations, clock }))) count++
  return count
}

type Parts = { readonly database: Database; readonly migrations: readonly Migration[]; readonly clock: Clock }

async function applyNext(tx: Transaction, { database: { engine }, migrations, clock }: Parts): Promise<boolean> {
  if (engine === 'postgres') await tx.query('select pg_advisory_xact_lock($1)', [advisoryLock])
  for (const statement of toStatements(migrationTable, engine)) await tx.run(statement)
  const applied = await tx.query<Applied>('select number, name, checksum from migration order by number')
  assertSameHistory(applied, migrations)
  const next = migrations[applied.length]
  if (next === undefined) return false
  for (const statement of toStatements(next.sql, engine)) await tx.run(statement)
  await tx.run('insert into migration (number, name, checksum, applied_at) values ($1, $2, $3, $4)', [
    next.number,
    next.name,
    next.checksum,
    clock.nowMs(),
  ])
  return true
}

function assertSameHistory(applied: readonly Applied[], migrations: readonly Migration[]): void {
  applied.forEach(({ number, name, checksum }, index) => {
    const known = migrations[index]
    if (known === undefined) throw new DatabaseTooNew(`${number} (${name})`)
    if (known.number !== number || known.checksum !== checksum) {
      throw new Error(`Migration ${number} (${name}) was changed after it was applied; restore the original file.`)
    }
  })
}

const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/

/** The migrations of a folder in their order: 0001_first.sql, 0002_second.sql and so on, without a gap. */
export async function readMigrations(dir: string): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  const migrations = await Promise.all(files.map((file) => readMigration(dir, file)))
  migrations.forEach(({ number, name }, index) => {
    if (number !== index + 1) throw new Error(`${dir}: expected migration ${index + 1}, found ${number} (${name})`)
  })
  return migrations
}

async function readMigration(dir: string, file: string): Promise<Migration> {
  const [, digits, name] = fileName.exec(file) ?? []
  if (digits === undefined || name === undefined) {
    throw new Error(`${join(dir, file)}: a migration is named like 0001_first_tables.sql`)
  }
  // Ignore the line endings of the checkout.
  const sql = (await readFile(join(dir, file), 'utf8')).replaceAll('\r\n', '\n')
  return { number: Number(digits), name, checksum: createHash('sha256').update(sql).digest('hex'), sql }
}
