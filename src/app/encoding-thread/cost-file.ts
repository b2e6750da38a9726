import { compressedCsv } from '../../adapters/sinks/cost-file.ts'
import type { Transaction } from '../../adapters/stores/sql/database.ts'
import { namesIn } from '../../adapters/stores/sql/identity/names.ts'
import { dayCosts, type DayCostsQuery } from '../../adapters/stores/sql/rollup/cost-days.ts'
import type { CostFile } from '../../domain/costs/cost-days.ts'
import type { DayCost } from '../../domain/costs/focus.ts'
import type { NamedKind } from '../../domain/costs/names.ts'
import { totalOf } from '../../domain/costs/report.ts'

/** Callers choose tags, so a day may have any number of rows with them. */
const maxRows = 100_000

export type CostFileInput = Pick<DayCostsQuery, 'organizationId' | 'day' | 'nowMs'> & {
  readonly creditUsd: number
  readonly maxRows?: number
}

/** The file of a day. With too many rows its tags are left out. */
export async function readCostFile(query: Transaction['query'], input: CostFileInput): Promise<CostFile> {
  const { organizationId, day, creditUsd } = input
  const wanted = { maxRows, ...input }
  const withTags = await dayCosts(query, { ...wanted, hasTags: true })
  const rows = withTags ?? (await dayCosts(query, { ...wanted, hasTags: false }))
  if (rows === undefined)
    throw new Error(`The day has more than ${wanted.maxRows} projects, keys and models of ${organizationId}.`)
  const namesOf = (kind: NamedKind, idOf: (row: DayCost) => string) =>
    namesIn(query)(organizationId, kind, [...new Set(rows.map(idOf))])
  const organizations = await query<{ name: string }>('select name from organization where id = $1', [organizationId])
  const body = await compressedCsv(rows, {
    organization: { id: organizationId, name: organizations[0]?.name ?? organizationId },
    day,
    creditUsd,
    names: {
      project: await namesOf('project', ({ projectId }) => projectId),
      key: await namesOf('key', ({ keyId }) => keyId),
    },
  })
  return { body, rowCount: rows.length, totals: totalOf(rows), hasTags: withTags !== undefined }
}
