import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { DatabaseTooNew, type Migration } from '../migrate.ts'
import { foreignObject } from '../sqlite/schema.ts'
import type { CopyValue } from './copy-text.ts'
import { sumsQuery, type TableSums } from './sums.ts'
import { inForeignKeyOrder } from './table-order.ts'
import type { CopyTable } from './table.ts'

/** An embedded database that nothing writes to: of a stopped server, or a backup. */
export type CopySource = Disposable & {
  /** Of the whole file. The copy of another state cannot be continued. */
  readonly digest: string
  /** The number of the last migration that was applied to it. */
  readonly lastMigration: number
  /** Each table after those that its foreign keys reference. */
  readonly tables: readonly CopyTable[]
  /** The rows after the first `skipped`, always in the same order. */
  rows(table: CopyTable, skipped: number): Iterable<CopyValue[]>
  sums(table: CopyTable): TableSums
  /** What identifies the server secrets that it was written with. Empty if nothing in it depends on one. */
  secretIds(): ReadonlySet<string>
  /** Reads every page, and throws if the file is damaged. */
  assertIntact(): void
  /** Throws if somebody wrote to the file after it was opened. */
  assertUnchanged(): void
}

/** Tables that are not copied, and why. Every other table is, whatever migration created it. */
const leftOut: Readonly<Record<string, string>> = {
  migration: 'the migrations of the target write their own',
  backup_manifest: 'it describes the backup file',
  redo_position: 'it belongs to the redo log of the data folder, and is empty after a regular stop',
  redo_loss: 'it is empty, or the source is rejected',
}

/** Opens the file without a lock and without a write-ahead log, so that not even a file beside it is created. */
export async function openCopySource(file: string, migrations: readonly Migration[]): Promise<CopySource> {
  const opened = identityOf(file)
  if (sizeOf(`${file}-wal`) > 0) throw notStopped(file)
  const digest = await digestOf(file)
  const database = open(file)
  try {
    const lastMigration = lastMigrationOf(database, migrations)
    const foreign = foreignObject(database, migrations.slice(0, lastMigration))
    if (foreign !== undefined)
      throw new Error(`${file} is not a database of Gatehouse: its ${foreign} is not the one of its version.`)
    if (hasRows(database, 'redo_position') || hasRows(database, 'redo_loss')) throw notStopped(file)
    const tables = readTables(database)
    return {
      digest,
      lastMigration,
      tables,
      rows: (table, skipped) => readRows(database, table, skipped),
      sums: (table) => Object.values(database.prepare(sumsQuery(table)).get() ?? {}).map(String),
      secretIds: () => readSecretIds(database, tables),
      assertIntact: () => assertIntact(database, file),
      assertUnchanged() {
        if (identityOf(file) !== opened)
          throw new Error(`${file} was changed while it was copied. Nothing may write to it.`)
      },
      [Symbol.dispose]: () => database.close(),
    }
  } catch (error) {
    database.close()
    throw isDamage(error) ? damaged(file, error) : error
  }
}

function open(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return new DatabaseSync(url, { readOnly: true })
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

function identityOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new Error(`There is no file ${file}.`)
  return `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeMs}`
}

function lastMigrationOf(database: DatabaseSync, migrations: readonly Migration[]): number {
  const row = database.prepare('select number, name from migration order by number desc limit 1').get()
  const number = Number(row?.['number'] ?? 0)
  if (number > migrations.length) throw new DatabaseTooNew(`${number} (${String(row?.['name'])})`)
  return number
}

function hasRows(database: DatabaseSync, table: string): boolean {
  const known = database.prepare(`select 1 from sqlite_master where type = 'table' and name = ?`).get(table)
  return known !== undefined && database.prepare(`select 1 from "${table}" limit 1`).get() !== undefined
}

function readTables(database: DatabaseSync): CopyTable[] {
  const rows = database.prepare(`select name, wr from pragma_table_list where schema = 'main' and type = 'table'`).all()
  const own = rows.map((row) => ({ name: String(row['name']), hasRowid: row['wr'] === 0 }))
  const copied = own.filter(({ name }) => !name.startsWith('sqlite_') && !Object.hasOwn(leftOut, name))
  return inForeignKeyOrder(copied.sort((a, b) => (a.name < b.name ? -1 : 1)).map((table) => readTable(database, table)))
}

function readTable(database: DatabaseSync, { name, hasRowid }: { name: string; hasRowid: boolean }): CopyTable {
  const rows = database
    .prepare('select name, type, pk from pragma_table_xinfo(?) where hidden = 0 order by cid')
    .all(name)
  const keys = rows.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a['pk']) - Number(b['pk']))
  const references = database.prepare('select distinct "table" as name from pragma_foreign_key_list(?)').all(name)
  return {
    name,
    references: references.map((row) => String(row['name'])),
    columns: rows.map((row) => ({ name: String(row['name']), type: String(row['type']) })),
    order: hasRowid ? ['rowid'] : keys.map((row) => String(row['name'])),
  }
}

/** Where rows name the server secret. A database of an older version lacks some of these columns. */
const secretColumns = { audit_key: 'id', api_key: 'secret_id', admin_key: 'secret_id' } as const

function readSecretIds(database: DatabaseSync, tables: readonly CopyTable[]): ReadonlySet<string> {
  const present = Object.entries(secretColumns).filter(([table, column]) =>
    tables.some(({ name, columns }) => name === table && columns.some((each) => each.name === column)),
  )
  const rows = present.flatMap(([table, column]) =>
    database.prepare(`select distinct ${column} as id from ${table} where ${column} is not null`).all(),
  )
  return new Set(rows.map((row) => String(row['id'])))
}

function readRows(database: DatabaseSync, { name, columns, order }: CopyTable, skipped: number): Iterable<CopyValue[]> {
  const quoted = (names: readonly string[]): string => names.map((each) => `"${each}"`).join(', ')
  const statement = database.prepare(
    `select ${quoted(columns.map((column) => column.name))} from "${name}" order by ${quoted(order)} limit -1 offset ?`,
  )
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  return statement.iterate(skipped) as unknown as Iterable<CopyValue[]>
}

function assertIntact(database: DatabaseSync, file: string): void {
  let finding: unknown
  try {
    finding = database.prepare('pragma integrity_check(1)').get()?.['integrity_check']
  } catch (error) {
    throw damaged(file, error)
  }
  if (finding !== 'ok') throw damaged(file, new Error(String(finding)))
}

/** Codes of SQLite for a damaged file, and for one that is no database. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && [11, 26].includes(Number(error.errcode) & 0xff)

const damaged = (file: string, cause: unknown): Error =>
  new Error(`${file} is damaged: ${cause instanceof Error ? cause.message : String(cause)}. Restore a backup first.`, {
    cause,
  })

const notStopped = (file: string): Error =>
  new Error(
    `The last server on ${file} did not stop regularly. Start it once and stop it, or move a backup: gatehouse backup FILE, then --from FILE.`,
  )
