import { toChunks } from '../../../base/text-chunks.ts'
import type { CostDimension, CostQuery, CostStore, CostSum } from '../../../domain/costs/costs.ts'
import type { NamedKind, NamesOf } from '../../../domain/costs/names.ts'
import { inMicroUsd, reportCosts, type CostTotals } from '../../../domain/costs/report.ts'
import { csvLine, type Cell } from '../../../base/csv.ts'
import type { CostsBody, formats } from './schema.ts'

export type CostsInput = {
  readonly query: CostQuery
  /** Most groups. */
  readonly limit: number
  readonly format: (typeof formats)[number]
  readonly creditUsd: number
  readonly nowMs: number
  /** The kinds whose names the caller may see. */
  readonly named: readonly NamedKind[]
}

type CostReads = { readonly costs: CostStore; readonly names: NamesOf }

type Row = CostsBody['data'][number]

/** Reads costs and encodes them as a `CostsObject` or as CSV. */
export async function encodeCosts({ costs, names }: CostReads, input: CostsInput): Promise<readonly string[]> {
  const { query, limit, creditUsd } = input
  const { rows, other, total } = reportCosts(await costs.sums(query), limit)
  const readNames = async (kind: NamedKind): Promise<ReadonlyMap<string, string>> => {
    const at = query.groupBy.indexOf(kind)
    const ids = at === -1 || !input.named.includes(kind) ? [] : rows.map(({ group }) => group[at] ?? '')
    return ids.length === 0 ? new Map() : names(query.organizationId, kind, [...new Set(ids)])
  }
  const named = { project: await readNames('project'), key: await readNames('key') }
  const data = rows.map((row) => ({ ...presentGroup(row, query.groupBy, named), ...presentSums(row, creditUsd) }))
  const others = other && presentSums(other, creditUsd)
  if (input.format === 'csv') return toChunks(csvOf(data, others, query))
  const body: CostsBody = {
    object: 'organization.costs',
    from: query.from,
    to: query.to,
    data,
    has_more: others !== null,
    other: others,
    total: presentSums(total, creditUsd),
  }
  return toChunks(JSON.stringify(body))
}

type Names = Readonly<Record<NamedKind, ReadonlyMap<string, string>>>

function presentGroup({ startTime, group }: CostSum, groupBy: readonly CostDimension[], names: Names) {
  const valueOf = (of: CostDimension): string | null => group[groupBy.indexOf(of)] || null
  const [project, key] = [valueOf('project'), valueOf('key')]
  const tags = groupBy.flatMap((of) => (of.startsWith(tagPrefix) ? [[of.slice(tagPrefix.length), valueOf(of)]] : []))
  return {
    day: startTime ?? null,
    project_id: project,
    project_name: project === null ? null : (names.project.get(project) ?? null),
    api_key_id: key,
    api_key_name: key === null ? null : (names.key.get(key) ?? null),
    model: valueOf('model'),
    user_id: valueOf('user'),
    tags: Object.fromEntries(tags) as Row['tags'],
  }
}

const tagPrefix = 'tag:'

const microPerUsd = 1_000_000

const presentSums = (sums: CostTotals, creditUsd: number) => ({
  requests: sums.requests,
  input_tokens: sums.inputTokens,
  cache_read_tokens: sums.cacheReadTokens,
  cache_write_tokens: sums.cacheWriteTokens,
  output_tokens: sums.outputTokens,
  cost_usd: inMicroUsd(sums.costMicro, creditUsd) / microPerUsd,
})

type Sums = ReturnType<typeof presentSums>
type Column = readonly [name: string, cellOf: (row: Row) => Cell]

const columnsOf: Readonly<Record<Exclude<CostDimension, `tag:${string}`>, readonly Column[]>> = {
  project: [
    ['project_id', (row) => row.project_id],
    ['project_name', (row) => row.project_name],
  ],
  key: [
    ['api_key_id', (row) => row.api_key_id],
    ['api_key_name', (row) => row.api_key_name],
  ],
  model: [['model', (row) => row.model]],
  user: [['user_id', (row) => row.user_id]],
}

const dayColumn: Column = ['day', ({ day }) => (day === null ? null : new Date(day * 1000).toISOString().slice(0, 10))]

const isTag = (of: CostDimension): of is `tag:${string}` => of.startsWith(tagPrefix)

/** The columns of the groups, then the sums. The last row has all groups that are left out. */
function csvOf(rows: readonly Row[], other: Sums | null, { groupBy, step }: CostQuery): string {
  const groups = groupBy.flatMap((of): readonly Column[] =>
    isTag(of) ? [[of, ({ tags }) => tags[of.slice(tagPrefix.length)] ?? null]] : columnsOf[of],
  )
  const columns = step === undefined ? groups : [dayColumn, ...groups]
  const sums = (row: Sums): Cell[] => [
    row.requests,
    row.input_tokens,
    row.cache_read_tokens,
    row.cache_write_tokens,
    row.output_tokens,
    row.cost_usd.toFixed(6),
  ]
  const head = csvLine([
    ...columns.map(([name]) => name),
    'requests',
    'input_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'output_tokens',
    'cost_usd',
  ])
  const lines = rows.map((row) => csvLine([...columns.map(([, cellOf]) => cellOf(row)), ...sums(row)]))
  const last = other === null ? '' : csvLine([...columns.map((_, at) => (at === 0 ? '(other)' : null)), ...sums(other)])
  return [head, ...lines, last].join('')
}
