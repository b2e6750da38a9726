import { rollupKinds } from '../../../../domain/rollup/kinds.ts'
import {
  groupsOfEntries,
  mergeGroups,
  sharedBuckets,
  type RollupGroup,
  type RollupQuery,
} from '../../../../domain/rollup/report.ts'
import { segmentsOf, type Segment } from '../../../../domain/rollup/segments.ts'
import type { Transaction, Value } from '../database.ts'
import { columnOf, dimensionColumns, sumColumns } from './columns.ts'
import { entriesOf } from './deltas.ts'

type Query = Pick<Transaction, 'query'>['query']
type SumRow = { start_time: number; delta: string | null } & Record<string, Value>

/**
 * Sums of a period, in order of time and group. Deltas that are not folded yet are added to them. One statement reads both, because a
 * delta that is folded between two reads would be missed or counted twice.
 */
export async function readRollup(query: Query, wanted: RollupQuery, nowSeconds: number): Promise<RollupGroup[]> {
  const segments = segmentsOf(wanted, rollupKinds[wanted.kind].steps, nowSeconds)
  if (segments.length === 0 || wanted.subjects?.length === 0) return []
  const { sql, params } = statementOf(wanted, segments)
  const rows = await query<SumRow>(sql, params)
  const unfolded = rows.flatMap(({ delta }) => (delta === null ? [] : (entriesOf(delta) ?? [])))
  const toGroup = groupReader(wanted)
  const stored = rows.filter(({ delta }) => delta === null).map(toGroup)
  const added = groupsOfEntries(wanted, segments, unfolded)
  const shared = [...sharedBuckets(segments, wanted.bucket), ...added.map(({ startTime }) => startTime)]
  return mergeGroups([...stored, ...added], new Set(shared)).slice(0, wanted.limit)
}

function groupReader({ kind, groupBy }: RollupQuery): (row: SumRow) => RollupGroup {
  const [groups, sums] = [groupBy.map(columnOf), sumColumns(kind)]
  return (row) => ({
    startTime: row.start_time,
    group: groups.map((column) => (column === 'version' ? Number(row[column]) : String(row[column]))),
    sums: sums.map((column) => Number(row[column])),
  })
}

function statementOf(wanted: RollupQuery, segments: readonly Segment[]): { sql: string; params: Value[] } {
  const { organizationId, kind, groupBy, subjects = [''], only = [] } = wanted
  const params: Value[] = [organizationId]
  const parameter = (value: Value): string => `$${params.push(value)}`
  const subjectList = subjects.map(parameter).join(', ')
  const filters = only.map(({ dimension, values, isNegated }) => {
    const list = values.map(parameter).join(', ')
    return ` and ${columnOf(dimension)} ${isNegated ? 'not in' : 'in'} (${list})`
  })
  const parts = segments.map(({ step, from, to }, at) => {
    const where = `organization_id = $1 and kind = '${kind}' and step = ${step} and subject in (${subjectList})
      and start_time >= ${parameter(from)} and start_time < ${parameter(to)}${filters.join('')}`
    return sumsOf(wanted, { step, where, name: `part_${at}` })
  })
  const noGroup = groupBy.map((dimension) => (dimension === 'version' ? '0' : "''"))
  const noSums = sumColumns(kind).map(() => '0')
  const deltas = `select ${['0', ...noGroup, ...noSums].join(', ')}, delta from rollup_delta where organization_id = $1`
  return { sql: [...parts, deltas].join('\nunion all\n'), params }
}

type Part = { readonly step: number; readonly where: string; readonly name: string }

/** Groups by the stored time where that is the bucket, because the rows are in its order. */
function sumsOf({ kind, groupBy, bucket, limit }: RollupQuery, { step, where, name }: Part): string {
  const groups = groupBy.map(columnOf)
  const start = step >= bucket ? 'start_time' : `(start_time / ${bucket}) * ${bucket}`
  // Where each row is a group of its own, there is nothing to sum up.
  const isSummed = step < bucket || dimensionColumns(kind).some((column) => !groups.includes(column))
  const sums = sumColumns(kind).map((column) => (isSummed ? `cast(sum(${column}) as bigint) as ${column}` : column))
  const select = `select ${[`${start} as start_time`, ...groups, ...sums].join(', ')}, cast(null as text) as delta
    from rollup where ${where}${isSummed ? ` group by ${[start, ...groups].join(', ')}` : ''}`
  if (limit === undefined) return select
  const order = [start, ...groups].map((_, at) => at + 1).join(', ')
  return `select * from (${select} order by ${order} limit ${Math.trunc(limit)}) as ${name}`
}
