import { foldDeltas, type RollupRow } from '../../../../domain/rollup/fold.ts'
import { kindNames, type RollupKind } from '../../../../domain/rollup/kinds.ts'
import { createBulkInsert } from '../bulk-insert.ts'
import { UnexpectedRows, type Database, type Statement, type Value } from '../database.ts'
import { dimensionColumns, keyColumns, sumColumns } from './columns.ts'
import { entriesOf } from './deltas.ts'

/** Deltas of one step, and their characters. No request is served while they are summed up. */
const maxDeltas = 256
const maxCharacters = 256 * 1024

export type DeltaRow = { organization_id: string; id: string; delta: string }

/**
 * Moves stored deltas into the sums. Returns false while there may be more of them. A damaged delta is removed, because it would keep
 * all later ones from being counted; `onDamaged` is called with what it was.
 */
export async function foldStoredDeltas(
  database: Database,
  onDamaged: (delta: DeltaRow) => void = () => {},
): Promise<boolean> {
  const found = await database.read<DeltaRow>(
    `select organization_id, id, delta from rollup_delta order by organization_id, id limit ${maxDeltas}`,
  )
  if (found.length === 0) return true
  const stored = found.slice(0, countWithin(found, maxCharacters))
  const rows = foldDeltas(
    stored.map(({ organization_id: organizationId, delta }) => ({ organizationId, entries: entriesOf(delta) ?? [] })),
  )
  try {
    const step = [...rollupLock(database.engine), removalOf(database.engine, stored), ...additionsOf(rows)]
    await database.write(step, { waitsForDisk: false })
    for (const delta of stored) if (entriesOf(delta.delta) === undefined) onDamaged(delta)
    return found.length < maxDeltas && stored.length === found.length
  } catch (error) {
    if (!(error instanceof UnexpectedRows)) throw error
    return true // another node folded some of them, and folds the others
  }
}

/** How many deltas from the start have at most this number of characters; at least one. */
function countWithin(deltas: readonly DeltaRow[], most: number): number {
  let characters = 0
  const end = deltas.findIndex(({ delta }) => (characters += delta.length) > most)
  return end === -1 ? deltas.length : Math.max(1, end)
}

/** An arbitrary number, the same on every node. */
const advisoryLock = 4_617_316

/** The first statement of every step that changes sums, so that two nodes cannot deadlock. SQLite has one writer. */
export const rollupLock = (engine: Database['engine']): Statement[] =>
  engine === 'sqlite' ? [] : [{ sql: 'select pg_advisory_xact_lock($1)', params: [advisoryLock] }]

/** Each delta must still be there, so that none is counted twice. */
function removalOf(engine: Database['engine'], deltas: readonly DeltaRow[]): Statement {
  const keys =
    engine === 'sqlite'
      ? `select json_extract(value, '$[0]'), json_extract(value, '$[1]') from json_each($1)`
      : 'select value ->> 0, value ->> 1 from json_array_elements(cast($1 as json)) as given (value)'
  return {
    sql: `delete from rollup_delta where (organization_id, id) in (${keys})`,
    params: [JSON.stringify(deltas.map(({ organization_id: organizationId, id }) => [organizationId, id]))],
    expect: deltas.length,
  }
}

const upserts = new Map(kindNames.map((kind) => [kind, createUpsert(kind)]))

function createUpsert(kind: RollupKind) {
  const sums = sumColumns(kind)
  return createBulkInsert({
    table: 'rollup',
    name: `add to rollup ${kind}`,
    columns: ['organization_id', 'kind', 'step', 'start_time', ...dimensionColumns(kind), ...sums],
    suffix: `on conflict (${keyColumns.join(', ')}) do update set
      ${sums.map((column) => `${column} = rollup.${column} + excluded.${column}`).join(', ')}`,
  })
}

function additionsOf(rows: readonly RollupRow[]): Statement[] {
  const byKind = Map.groupBy(rows, ({ kind }) => kind)
  return Array.from(byKind, ([kind, ofKind]) => upserts.get(kind)?.(ofKind.map(valuesOf)) ?? []).flat()
}

const valuesOf = ({ organizationId, kind, step, startTime, dimensions, sums }: RollupRow): Value[] => [
  organizationId,
  kind,
  step,
  startTime,
  ...dimensions,
  ...sums,
]
