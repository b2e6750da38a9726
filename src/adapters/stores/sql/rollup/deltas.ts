import { sumEntries, type RollupEntry } from '../../../../domain/rollup/entry.ts'
import { createBulkInsert } from '../bulk-insert.ts'
import type { Statement } from '../database.ts'

export type NewDelta = {
  readonly organizationId: string
  /** Unique in the organization. */
  readonly id: string
  readonly entry: RollupEntry | undefined
}

const insert = createBulkInsert({ table: 'rollup_delta', columns: ['organization_id', 'id', 'delta'] })

/** The statements that store what a commit adds to the sums: one row for each organization. */
export function deltaInsertions(deltas: readonly NewDelta[]): Statement[] {
  const byOrganization = Map.groupBy(deltas, ({ organizationId }) => organizationId)
  return insert(
    Array.from(byOrganization, ([organizationId, ofOrganization]) => {
      const entries = ofOrganization.flatMap(({ entry }) => (entry === undefined ? [] : [entry]))
      return [organizationId, ofOrganization[0]?.id ?? '', JSON.stringify(sumEntries(entries))] as const
    }).filter(([, , delta]) => delta !== '[]'),
  )
}

/** Undefined if the text is damaged. */
export function entriesOf(delta: string): RollupEntry[] | undefined {
  try {
    const entries: unknown = JSON.parse(delta)
    return Array.isArray(entries) ? (entries as RollupEntry[]) : undefined
  } catch {
    return undefined
  }
}
