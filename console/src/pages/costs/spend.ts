import { seriesTones, type Series, type SeriesTone } from '../../kit/series.ts'
import type { Bar } from '../../kit/stacked-bars.tsx'
import { words } from '../../words/en.ts'
import type { Costs } from './queries.ts'

const text = words.costs

/** What costs are grouped by without the tags, by its names in the API. */
export const plainGroups = ['project', 'key', 'model', 'user'] as const
/** One of these, or `tag:team`. */
export type SpendGroup = string

type Row = Costs['data'][number]

/** A project, key, model, user or value of a tag with what it spent. */
export type Spender = {
  /** Empty for requests without a user or without the tag. */
  readonly id: string
  readonly name: string
  readonly requests: number
  readonly tokens: number
  /** In dollars. */
  readonly cost: number
  /** Of the cost, or of the requests where nothing costs anything. */
  readonly share: number
  readonly tone: SeriesTone
}

export const restId = '(rest)'

/** Whether the chart and the shares are of requests, because nothing has a price. */
export const isFree = ({ total }: Pick<Costs, 'total'>): boolean => total.cost_usd === 0

type Sums = Costs['total']

const weightIn =
  (costs: Pick<Costs, 'total'>) =>
  ({ cost_usd: cost, requests }: Pick<Sums, 'cost_usd' | 'requests'>): number =>
    isFree(costs) ? requests : cost

/** Each spender, the one that spends most first, and those that the answer left out as the last. */
export function spendersOf(costs: Costs, group: SpendGroup): readonly Spender[] {
  const weight = weightIn(costs)
  const total = weight(costs.total)
  const figures = (sums: Sums) => ({
    requests: sums.requests,
    tokens: sums.input_tokens + sums.cache_read_tokens + sums.cache_write_tokens + sums.output_tokens,
    cost: sums.cost_usd,
    share: total === 0 ? 0 : weight(sums) / total,
  })
  const rows = costs.data.toSorted((left, right) => weight(right) - weight(left))
  const { other } = costs
  return [
    ...rows.map((row, at): Spender => ({
      id: idOf(row, group),
      name: nameOf(row, group),
      ...figures(row),
      tone: seriesTones[at] ?? 'rest',
    })),
    ...(other === null ? [] : [{ id: restId, name: text.others, ...figures(other), tone: 'rest' as const }]),
  ]
}

function idOf(row: Row, group: SpendGroup): string {
  if (group === 'project') return row.project_id ?? ''
  if (group === 'key') return row.api_key_id ?? ''
  if (group === 'model') return row.model ?? ''
  if (group === 'user') return row.user_id ?? ''
  return row.tags[group.slice('tag:'.length)] ?? ''
}

function nameOf(row: Row, group: SpendGroup): string {
  if (group === 'project') return row.project_name ?? row.project_id ?? words.common.none
  if (group === 'key') return row.api_key_name ?? row.api_key_id ?? words.common.none
  const id = idOf(row, group)
  if (id !== '') return id
  return group === 'user' ? text.noUser : text.noTag(group.slice('tag:'.length))
}

/** The first spenders by name, and all others in one. */
export function seriesOf(spenders: readonly Spender[]): readonly Series<SeriesTone>[] {
  const shown = spenders.filter(({ tone }) => tone !== 'rest')
  const hasRest = shown.length < spenders.length
  return [
    ...shown.map(({ id, name, tone }) => ({ id, name, tone })),
    ...(hasRest ? [{ id: restId, name: text.others, tone: 'rest' as const }] : []),
  ]
}

const daySeconds = 86_400

type Days = {
  /** By group and day, and by day alone: the rest of a day is what the shown series leave of it. */
  readonly byGroup: Costs
  readonly all: Costs
}

/** A bar for each day of UTC, also for those without requests. */
export function barsOf(
  { byGroup, all }: Days,
  group: SpendGroup,
  series: readonly Series<SeriesTone>[],
): readonly Bar[] {
  const weight = weightIn(all)
  const start = Math.floor(all.from / daySeconds) * daySeconds
  const shown = new Set(series.map(({ id }) => id))
  const values = Array.from({ length: Math.ceil((all.to - start) / daySeconds) }, (): Record<string, number> => ({}))
  const add = (day: number | null, id: string, amount: number): void => {
    const of = values[((day ?? start) - start) / daySeconds]
    if (of) of[id] = Math.max(0, (of[id] ?? 0) + amount)
  }
  for (const row of all.data) add(row.day, restId, weight(row))
  for (const row of byGroup.data) {
    const id = idOf(row, group)
    if (!shown.has(id)) continue
    add(row.day, id, weight(row))
    add(row.day, restId, -weight(row))
  }
  return values.map((each, at) => ({ startMs: (start + (at + middle) * daySeconds) * 1_000, values: each }))
}

/** The middle of a day of UTC has the date of that day in almost every zone. */
const middle = 0.5
