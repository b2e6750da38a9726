import type { Database } from '../database.ts'
import { migrate, type Migration } from '../migrate.ts'
import { countNulTexts, toCopyLine } from './copy-text.ts'
import type { CopySource } from './source.ts'
import { differenceOf, type TableSums } from './sums.ts'
import type { CopyTable } from './table.ts'
import type { CopySlice, CopyTarget, TableProgress } from './target.ts'

export type CopyParts = {
  readonly source: CopySource
  readonly target: CopyTarget
  /** The target without a statement timeout, for the migrations. */
  readonly database: Database
  readonly migrations: readonly Migration[]
  readonly onRows: (progress: { readonly rows: number; readonly total: number }) => void
}

export type Copied = {
  readonly tables: number
  readonly rows: number
  /** Texts in which NUL was replaced, by the name of their table. */
  readonly nulTexts: ReadonlyMap<string, number>
  /** Whether an earlier call was interrupted. */
  readonly isContinued: boolean
}

/**
 * Copies every table into the target, compares both, and brings the target to the last migration. The target gets the migrations of
 * the source first, so the source need not be the latest version. After an interruption the next call continues; `target.finish`
 * ends the copy.
 */
export async function copyDatabase(parts: CopyParts): Promise<Copied> {
  const { source, target, database, migrations } = parts
  const isContinued = await target.isBegun()
  const isCompared = isContinued && (await target.lastMigration()) > source.lastMigration
  if (!isContinued) {
    await assertNotNewer(source, target)
    await target.begin(source)
  }
  await target.progress(source) // rejects a source that changed
  if (!isCompared) {
    await migrate(database, migrations.slice(0, source.lastMigration))
    const sums = new Map(source.tables.map((table) => [table, source.sums(table)]))
    await copyTables(parts, rowsIn(sums))
    source.assertUnchanged()
    for (const [table, expected] of sums) await compare(target, table, expected)
  }
  await migrate(database, migrations)
  await target.analyze()
  const progress = [...(await target.progress(source))]
  return {
    tables: progress.length,
    rows: progress.reduce((sum, [, { rows }]) => sum + rows, 0),
    nulTexts: new Map(progress.flatMap(([name, { nulTexts }]) => (nulTexts > 0 ? [[name, nulTexts]] : []))),
    isContinued,
  }
}

/** A table of a later version may have columns that the source does not know. */
async function assertNotNewer(source: CopySource, target: CopyTarget): Promise<void> {
  if ((await target.lastMigration()) <= source.lastMigration) return
  throw new Error(
    'The database of --to has tables of a later version than the source. Name a database without tables, or start this version once on the data folder.',
  )
}

/** The first sum of a table is its number of rows. */
const rowsIn = (sums: ReadonlyMap<CopyTable, TableSums>): number =>
  [...sums.values()].reduce((total, [rows]) => total + Number(rows), 0)

async function copyTables({ source, target, onRows }: CopyParts, total: number): Promise<void> {
  const progress = await target.progress(source)
  let rows = [...progress.values()].reduce((sum, done) => sum + done.rows, 0)
  onRows({ rows, total })
  for (const table of source.tables) {
    await target.assertSameColumns(table)
    for (const slice of slicesOf(source, table, progress.get(table.name))) {
      await target.append(table, slice)
      rows += slice.rows
      onRows({ rows, total })
    }
  }
}

/** Large enough that a round trip does not matter, small enough that a killed process repeats little. */
const sliceLength = 1_000_000

function* slicesOf(source: CopySource, table: CopyTable, progress: TableProgress | undefined): Generator<CopySlice> {
  let [text, rows, nulTexts] = ['', 0, 0]
  const slice = (): CopySlice => ({ data: Buffer.from(text), rows, nulTexts })
  for (const row of source.rows(table, progress?.rows ?? 0)) {
    text += toCopyLine(row)
    rows += 1
    nulTexts += countNulTexts(row)
    if (text.length < sliceLength) continue
    yield slice()
    ;[text, rows, nulTexts] = ['', 0, 0]
  }
  if (rows > 0) yield slice()
}

async function compare(target: CopyTarget, table: CopyTable, expected: TableSums): Promise<void> {
  const difference = differenceOf(table, expected, await target.sums(table))
  if (difference !== undefined) throw new Error(`The copy of the table ${table.name} differs: ${difference}.`)
}
