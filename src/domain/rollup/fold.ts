import { addSums, kindsOfSource, sumEntries, type DimensionValue, type RollupEntry } from './entry.ts'
import { rollupKinds, startOf, type RollupKind } from './kinds.ts'

/** The sums of one organization and kind in one step of time. */
export type RollupRow = {
  readonly organizationId: string
  readonly kind: RollupKind
  /** Seconds. */
  readonly step: number
  readonly startTime: number
  /** In the order of its kind. */
  readonly dimensions: readonly DimensionValue[]
  readonly sums: readonly number[]
}

/** What a writer added in one commit. */
export type RollupDelta = { readonly organizationId: string; readonly entries: readonly RollupEntry[] }

/** What deltas add to the stored sums: one row for each kind, step and group, in a fixed order. */
export function foldDeltas(deltas: readonly RollupDelta[]): RollupRow[] {
  const rows = new Map<string, RollupRow>()
  const byOrganization = Map.groupBy(deltas, ({ organizationId }) => organizationId)
  for (const [organizationId, ofOrganization] of byOrganization)
    for (const entry of sumEntries(ofOrganization.flatMap(({ entries }) => entries)))
      for (const row of rowsOf(organizationId, entry)) {
        const key = JSON.stringify([organizationId, row.kind, row.step, row.startTime, row.dimensions])
        const known = rows.get(key)
        rows.set(key, known === undefined ? row : { ...known, sums: addSums(known.sums, row.sums) })
      }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

function* rowsOf(organizationId: string, [source, startTime, values, sums]: RollupEntry): Generator<RollupRow> {
  for (const [kind, positions, sumsOf] of kindsOfSource[source]) {
    const dimensions = positions.map((at) => values[at] ?? '')
    for (const step of rollupKinds[kind].steps)
      yield { organizationId, kind, step, startTime: startOf(startTime, step), dimensions, sums: sumsOf(sums) }
  }
}
