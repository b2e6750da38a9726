import { coverBucket, type BucketCover } from '../../../../domain/rollup/bucket-cover.ts'
import { day, rollupKinds, startOf, week } from '../../../../domain/rollup/kinds.ts'
import {
  groupsOfEntries,
  mergeGroups,
  sharedBuckets,
  type RollupGroup,
  type RollupQuery,
} from '../../../../domain/rollup/report.ts'
import { endOf, segmentsOf, type Segment } from '../../../../domain/rollup/segments.ts'
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
  const { segments, selects } = planOf(wanted, nowSeconds)
  if (segments.length === 0 || wanted.subjects?.length === 0) return []
  const { sql, params } = statementOf(wanted, selects)
  const rows = await query<SumRow>(sql, params)
  const unfolded = rows.flatMap(({ delta }) => (delta === null ? [] : (entriesOf(delta) ?? [])))
  const toGroup = groupReader(wanted)
  const stored = rows.filter(({ delta }) => delta === null).map(toGroup)
  const added = groupsOfEntries(wanted, segments, unfolded)
  const shared = [...sharedBuckets(segments, wanted.bucket), ...added.map(({ startTime }) => startTime)]
  return mergeGroups([...stored, ...added], new Set(shared)).slice(0, wanted.limit)
}

type Plan = {
  /** Where entries that are not folded yet belong to. */
  readonly segments: readonly Segment[]
  readonly selects: (where: WhereSegment) => readonly string[]
}

/** The condition for the rows of a segment. */
type WhereSegment = (segment: Segment) => string

function planOf(wanted: RollupQuery, nowSeconds: number): Plan {
  const steps: readonly number[] = rollupKinds[wanted.kind].steps
  if (steps.includes(week) && wanted.bucket >= day) return planOfUsers(wanted, steps, nowSeconds)
  return planOfSegments(wanted, segmentsOf(wanted, upToDays(steps), nowSeconds))
}

const upToDays = (steps: readonly number[]): number[] => steps.filter((step) => step <= day)

const planOfSegments = (wanted: RollupQuery, segments: readonly Segment[]): Plan => ({
  segments,
  selects: (where) => segments.map((segment) => bucketsOf(wanted, segment, where)),
})

/** A bucket that is only partly in the period is covered with few steps, because an hour has nearly as many users as a day. */
function planOfUsers(wanted: RollupQuery, steps: readonly number[], nowSeconds: number): Plan {
  const { from, to, bucket } = wanted
  const options = { ...wanted, steps: steps.filter((step) => step <= bucket), nowSeconds }
  const wholeFrom = Math.min(to, endOf(from, bucket))
  const wholeTo = Math.max(wholeFrom, startOf(to, bucket))
  const whole = planOfSegments(
    wanted,
    segmentsOf({ from: wholeFrom, to: wholeTo, bucket }, upToDays(steps), nowSeconds),
  )
  const parts = [
    { from, to: wholeFrom },
    { from: wholeTo, to },
  ].flatMap((part) => (part.from < part.to ? (coverBucket(part, options) ?? []) : []))
  return {
    segments: [...whole.segments, ...parts.map(({ period }) => period)].sort((a, b) => a.from - b.from),
    selects: (where) => [...whole.selects(where), ...parts.map((part) => bucketPartOf(wanted, part, where))],
  }
}

function groupReader({ kind, groupBy }: RollupQuery): (row: SumRow) => RollupGroup {
  const [groups, sums] = [groupBy.map(columnOf), sumColumns(kind)]
  return (row) => ({
    startTime: row.start_time,
    group: groups.map((column) => (column === 'version' ? Number(row[column]) : String(row[column]))),
    sums: sums.map((column) => Number(row[column])),
  })
}

function statementOf(wanted: RollupQuery, selects: Plan['selects']): { sql: string; params: Value[] } {
  const { organizationId, kind, groupBy, subjects = [''], only = [] } = wanted
  const params: Value[] = [organizationId]
  const parameter = (value: Value): string => `$${params.push(value)}`
  const subjectList = subjects.map(parameter).join(', ')
  const filters = only.map(({ dimension, values, isNegated }) => {
    const list = values.map(parameter).join(', ')
    return ` and ${columnOf(dimension)} ${isNegated ? 'not in' : 'in'} (${list})`
  })
  const hasUsers = only.some(({ dimension, isNegated }) => dimension === 'userId' && !isNegated)
  // With the column itself SQLite reads all users by the primary key, and not some by the index of users.
  const subject = kind === 'cost' && hasUsers ? "subject || ''" : 'subject'
  const parts = selects(
    ({
      step,
      from,
      to,
    }) => `organization_id = $1 and kind = '${kind}' and step = ${step} and ${subject} in (${subjectList})
      and start_time >= ${parameter(from)} and start_time < ${parameter(to)}${filters.join('')}`,
  )
  const noGroup = groupBy.map((dimension) => (dimension === 'version' ? '0' : "''"))
  const noSums = sumColumns(kind).map(() => '0')
  const deltas = `select ${['0', ...noGroup, ...noSums].join(', ')}, delta from rollup_delta where organization_id = $1`
  return { sql: [...parts, deltas].join('\nunion all\n'), params }
}

/** Groups by the stored time where that is the bucket, because the rows are in its order. */
function bucketsOf({ kind, groupBy, bucket, limit }: RollupQuery, segment: Segment, where: WhereSegment) {
  const groups = groupBy.map(columnOf)
  const start = segment.step >= bucket ? 'start_time' : `(start_time / ${bucket}) * ${bucket}`
  // Where each row is a group of its own, there is nothing to sum up.
  const isSummed = segment.step < bucket || dimensionColumns(kind).some((column) => !groups.includes(column))
  const sums = sumColumns(kind).map((column) => (isSummed ? `cast(sum(${column}) as bigint) as ${column}` : column))
  const select = `select ${[`${start} as start_time`, ...groups, ...sums].join(', ')}, cast(null as text) as delta
    from rollup where ${where(segment)}${isSummed ? ` group by ${[start, ...groups].join(', ')}` : ''}`
  return limited(select, { columns: groups.length + 1, limit, name: 'part' })
}

/** A group whose rows cancel each other has nothing in the period. */
function bucketPartOf(
  { kind, groupBy, bucket, limit }: RollupQuery,
  { period, segments }: BucketCover,
  where: WhereSegment,
) {
  const [groups, sums, start] = [groupBy.map(columnOf), sumColumns(kind), startOf(period.from, bucket)]
  const rows = segments.map((segment) => {
    const signed = sums.map((column) => (segment.sign === 1 ? column : `-${column} as ${column}`))
    return `select ${[...groups, ...signed].join(', ')} from rollup where ${where(segment)}`
  })
  const totals = sums.map((column) => `cast(sum(${column}) as bigint) as ${column}`)
  const select = `select ${[`${start} as start_time`, ...groups, ...totals].join(', ')}, cast(null as text) as delta
    from (${rows.join(' union all ')}) as steps${groups.length === 0 ? '' : ` group by ${groups.join(', ')}`}
    having sum(requests) <> 0`
  return limited(select, { columns: groups.length + 1, limit, name: 'bucket' })
}

type LimitOptions = { readonly columns: number; readonly limit: number | undefined; readonly name: string }

/** The first rows in the order of these many columns. */
function limited(select: string, { columns, limit, name }: LimitOptions): string {
  if (limit === undefined) return select
  const order = Array.from({ length: columns }, (_, at) => at + 1).join(', ')
  return `select * from (${select} order by ${order} limit ${Math.trunc(limit)}) as ${name}`
}
