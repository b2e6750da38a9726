import { addSums, kindsOfSource, type DimensionValue, type RollupEntry } from './entry.ts'
import { rollupKinds, startOf, type RollupDimension, type RollupKind } from './kinds.ts'
import type { Period, Segment } from './segments.ts'

/** Which sums a report reads. */
export type RollupQuery = Period & {
  readonly organizationId: string
  readonly kind: RollupKind
  readonly groupBy: readonly RollupDimension[]
  /** Required for decisions, and for nothing else. */
  readonly subjects?: readonly string[]
  /** All of them must hold. */
  readonly only?: readonly DimensionFilter[]
  /** Sums of users from before this time are removed, or are about to be. */
  readonly earliest?: number
  /** The first week of users that is stored. */
  readonly firstWeek?: number
  /** Most groups. */
  readonly limit?: number
}

/** A dimension that has one of these values, or none of them. */
export type DimensionFilter = {
  readonly dimension: RollupDimension
  readonly values: readonly string[]
  readonly isNegated: boolean
}

/** The sums of one group in one bucket of time. */
export type RollupGroup = {
  readonly startTime: number
  /** In the order of `groupBy`. */
  readonly group: readonly DimensionValue[]
  /** In the order of the kind. */
  readonly sums: readonly number[]
}

/** The groups of entries that are not folded yet, as if they were in the rows of these segments. */
export function groupsOfEntries(
  { kind, groupBy, subjects, only = [], bucket }: RollupQuery,
  segments: readonly Segment[],
  entries: readonly RollupEntry[],
): RollupGroup[] {
  const dimensions: readonly RollupDimension[] = rollupKinds[kind].dimensions
  const subjectAt = dimensions.indexOf('subject')
  const groupAt = groupBy.map((dimension) => dimensions.indexOf(dimension))
  return entries.flatMap(([source, startTime, values, sums]): RollupGroup[] => {
    const [, positions, sumsOf] = kindsOfSource[source].find(([of]) => of === kind) ?? []
    const segment = segments.find(({ from, to }) => from <= startTime && startTime < to)
    if (positions === undefined || sumsOf === undefined || segment === undefined) return []
    const valueAt = (at: number): DimensionValue => values[positions[at] ?? -1] ?? ''
    if (subjects !== undefined && !subjects.includes(String(valueAt(subjectAt)))) return []
    const isMatch = only.every(
      ({ dimension, values: wanted, isNegated }) =>
        wanted.includes(String(valueAt(dimensions.indexOf(dimension)))) !== isNegated,
    )
    if (!isMatch) return []
    return [
      { startTime: startOf(startOf(startTime, segment.step), bucket), group: groupAt.map(valueAt), sums: sumsOf(sums) },
    ]
  })
}

/** Adds up equal groups in these buckets. Every other bucket has one row for each group already. In order of time and group. */
export function mergeGroups(groups: readonly RollupGroup[], overlappingBuckets: ReadonlySet<number>): RollupGroup[] {
  const unique: RollupGroup[] = []
  const merged = new Map<string, RollupGroup>()
  for (const group of groups) {
    if (!overlappingBuckets.has(group.startTime)) {
      unique.push(group)
      continue
    }
    const key = [group.startTime, ...group.group].join('\u0000')
    const known = merged.get(key)
    merged.set(key, known === undefined ? group : { ...known, sums: addSums(known.sums, group.sums) })
  }
  return [...unique, ...merged.values()].sort(byTimeAndGroup)
}

/** The buckets that several segments have rows of. */
export const sharedBuckets = (segments: readonly Segment[], bucket: number): number[] =>
  segments.map(({ from }) => startOf(from, bucket)).filter((start, at) => at > 0 && start !== segments[at]?.from)

function byTimeAndGroup(a: RollupGroup, b: RollupGroup): number {
  if (a.startTime !== b.startTime) return a.startTime - b.startTime
  for (const [at, value] of a.group.entries()) {
    const other = b.group[at] ?? ''
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}
