import { Client, Query, type ClientConfig } from 'pg'
import type { DatabaseRow, Value } from '../database.ts'
import { fromPostgres } from '../errors.ts'
import { postgresParsers } from '../postgres/pool.ts'
import { createProgress, progressTable } from './progress.ts'
import type { CopySource } from './source.ts'
import { sumsQuery, type TableSums } from './sums.ts'
import type { CopyTable } from './table.ts'

/** Rows of one table in the format of `copy`. */
export type CopySlice = { readonly data: Buffer; readonly rows: number; readonly nulTexts: number }

/** How many rows of a table are in the target, and how many texts with NUL were among them. */
export type TableProgress = { readonly rows: number; readonly nulTexts: number }

/** The PostgreSQL database that an embedded one is copied into. One process at a time has it open. */
export type CopyTarget = AsyncDisposable & {
  /** The number of the last migration that was applied to it; 0 for a database without tables. */
  lastMigration(): Promise<number>
  /** Whether a copy was begun. */
  isBegun(): Promise<boolean>
  /** Begins a copy of the source. Throws if a table of the target has rows. */
  begin(source: CopySource): Promise<void>
  /** The progress of each table. Throws if the copy that was begun is one of another source. */
  progress(source: CopySource): Promise<ReadonlyMap<string, TableProgress>>
  /** Throws if the target has other columns than the source. */
  assertSameColumns(table: CopyTable): Promise<void>
  /** Adds rows to a table and to its progress, both or none. */
  append(table: CopyTable, slice: CopySlice): Promise<void>
  sums(table: CopyTable): Promise<TableSums>
  /** Collects the statistics that plans of statements are made from. */
  analyze(): Promise<void>
  /** Ends the copy, so that a server may start. */
  finish(): Promise<void>
}

/** An arbitrary number, other than those of migrations, of the rollup and of partitions. */
const advisoryLock = 4_617_318
const connectTimeoutMs = 10_000

export async function openCopyTarget(url: string): Promise<CopyTarget> {
  const client = await connect(url)
  const query = async (sql: string, params: readonly Value[] = []): Promise<DatabaseRow[]> => {
    try {
      return (await client.query<DatabaseRow>(sql, [...params])).rows
    } catch (error) {
      throw fromPostgres(error)
    }
  }
  try {
    await assertAlone(query)
  } catch (error) {
    await client.end()
    throw error
  }
  return {
    async lastMigration() {
      if (!(await hasTable(query, 'migration'))) return 0
      return Number((await query('select max(number) as number from migration'))[0]?.['number'] ?? 0)
    },
    isBegun: () => hasTable(query, progressTable),
    async begin({ tables, digest }) {
      for (const { name } of tables) await assertEmpty(query, name)
      const rows = tables.map((_, at) => `($${at + 2}, $1, 0, 0)`).join(', ')
      await query('begin')
      await query(createProgress)
      await query(`insert into ${progressTable} values ${rows}`, [digest, ...tables.map(({ name }) => name)])
      await query('commit')
    },
    progress: (source) => readProgress(query, source),
    assertSameColumns: (table) => assertSameColumns(query, table),
    append: (table, slice) => append(client, table, slice),
    async sums(table) {
      const [row = {}] = await query(sumsQuery(table))
      return Object.values(row).map(String)
    },
    analyze: async () => void (await query('analyze')),
    async finish() {
      // Waits for the disk, which also writes everything before.
      await query('set synchronous_commit = on')
      await query(`drop table ${progressTable}`)
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

type RunQuery = (sql: string, params?: readonly Value[]) => Promise<DatabaseRow[]>

/** Without pipelining, which does not support `copy`, and without timeouts. */
async function connect(url: string): Promise<Client> {
  const config: ClientConfig = {
    connectionString: url,
    fallback_application_name: 'gatehouse migrate',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: (type: number) => postgresParsers[type] ?? String },
  }
  const client = new Client(config)
  client.on('error', () => undefined) // the statement that is running reports the error
  try {
    await client.connect()
    // A crash of the server undoes the last slices together with their progress.
    await client.query('set synchronous_commit = off; set statement_timeout = 0')
  } catch (error) {
    await client.end().catch(() => undefined)
    const { message } = fromPostgres(error)
    throw new Error(`The PostgreSQL database of --to cannot be used: ${message}`, { cause: error })
  }
  return client
}

async function assertAlone(query: RunQuery): Promise<void> {
  const [row] = await query('select pg_try_advisory_lock($1) as locked', [advisoryLock])
  if (row?.['locked'] !== 1) throw new Error('Another process copies into this database.')
}

async function hasTable(query: RunQuery, name: string): Promise<boolean> {
  const [row] = await query('select cast(to_regclass($1) as text) as name', [name])
  return row?.['name'] != null
}

async function assertEmpty(query: RunQuery, table: string): Promise<void> {
  if (!(await hasTable(query, table))) return
  const [row] = await query(`select exists (select 1 from "${table}") as filled`)
  if (row?.['filled'] === 1)
    throw new Error(`The database of --to is not empty: its table ${table} has rows. Name an empty database.`)
}

async function readProgress(query: RunQuery, { digest }: CopySource): Promise<ReadonlyMap<string, TableProgress>> {
  const rows = await query(`select table_name, source, rows, nul_texts from ${progressTable}`)
  if (rows.some(({ source }) => source !== digest))
    throw new Error(
      'The source changed since the copy was begun, so the copy cannot be continued. Name another empty database, or empty this one.',
    )
  return new Map(
    rows.map((row) => [String(row['table_name']), { rows: Number(row['rows']), nulTexts: Number(row['nul_texts']) }]),
  )
}

async function assertSameColumns(query: RunQuery, { name, columns }: CopyTable): Promise<void> {
  const rows = await query(
    `select column_name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER'`,
    [name],
  )
  const [own, theirs] = [columns.map((column) => column.name), rows.map((row) => String(row['column_name']))]
  const [other] = new Set(own).symmetricDifference(new Set(theirs))
  if (other !== undefined)
    throw new Error(`The table ${name} has the column ${other} in one of the two databases only.`)
}

/** The statements of one message are one transaction. */
async function append(client: Client, { name, columns }: CopyTable, slice: CopySlice): Promise<void> {
  const { data, rows, nulTexts } = slice
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sql =
    `copy "${name}" (${columns.map((column) => `"${column.name}"`).join(', ')}) from stdin; ` +
    `update ${progressTable} set rows = rows + ${rows}, nul_texts = nul_texts + ${nulTexts} where table_name = '${name}'`
  client.query(new CopyQuery(sql, data, (error) => (error ? reject(error) : resolve())))
  try {
    await promise
  } catch (cause) {
    const { reason, message } = fromPostgres(cause)
    const hint = reason === 'unavailable' ? ' Run the command again to continue.' : ''
    throw new Error(`The table ${name} cannot be copied: ${message}.${hint}`, { cause })
  }
}

/** Methods of a connection that the types of `pg` leave out. */
type CopyConnection = { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void }

/** A query that contains `copy … from stdin`: the server asks for the data, and gets all of it. */
class CopyQuery extends Query {
  readonly #data: Buffer

  constructor(sql: string, data: Buffer, onEnd: (error: Error | undefined) => void) {
    super(sql, onEnd)
    this.#data = data
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#data)
    connection.endCopyFrom()
  }
}
