import type { Names } from '../../api/names.ts'
import type { Bar } from '../../kit/stacked-bars.tsx'
import { words } from '../../words/en.ts'
import type { Usage } from './queries.ts'
import type { UseGroup } from './search.ts'

/** A project, key, model or end user with what it used. */
export type User = {
  readonly id: string
  readonly name: string
  readonly requests: number
  readonly tokens: number
  /** In dollars. */
  readonly cost: number
  /** Of the cost, or of the requests where nothing costs anything. */
  readonly share: number
}

type Result = Usage['data'][number]['results'][number]
type KnownNames = { readonly projects: Names; readonly keys: Names }

const idFields = { project: 'project_id', api_key: 'api_key_id', model: 'model', user: 'user_id' } as const

/** Each user of the time range, the one that spends most first. */
export function usersOf(usage: Usage, group: UseGroup, names: KnownNames): readonly User[] {
  const all = usage.data.flatMap(({ results }) => results)
  const sum = (results: readonly Result[], pick: (result: Result) => number): number =>
    results.reduce((total, result) => total + pick(result), 0)
  const byCost = sum(all, ({ cost_usd: cost }) => cost) > 0
  const weight = (results: readonly Result[]): number =>
    sum(results, ({ cost_usd: cost, requests }) => (byCost ? cost : requests))
  const total = weight(all)
  return [...Map.groupBy(all, (result) => result[idFields[group]] ?? '')]
    .map(([id, results]) => ({
      id,
      name: nameOf(id, group, names),
      requests: sum(results, ({ requests }) => requests),
      tokens: sum(results, tokensOf),
      cost: sum(results, ({ cost_usd: cost }) => cost),
      share: total === 0 ? 0 : weight(results) / total,
    }))
    .toSorted((left, right) => right.share - left.share)
}

const tokensOf = (result: Result): number =>
  result.input_tokens + result.cache_read_tokens + result.cache_write_tokens + result.output_tokens

function nameOf(id: string, group: UseGroup, { projects, keys }: KnownNames): string {
  if (id === '') return words.limits.noUser
  if (group === 'project') return projects.get(id) ?? id
  return group === 'api_key' ? (keys.get(id) ?? id) : id
}

/** Credits over time, or requests where nothing costs anything. The API leaves out steps without use; the chart shows them. */
export function barsOf({ data, start_time: from, end_time: to }: Usage): readonly Bar[] {
  const first = data[0]
  if (first === undefined) return []
  const step = first.end_time - first.start_time
  const isPaid = data.some(({ results }) => results.some(({ credits }) => credits > 0))
  const used = new Map(
    data.map(({ start_time: start, results }) => [
      start,
      results.reduce((sum, { credits, requests }) => sum + (isPaid ? credits : requests), 0),
    ]),
  )
  const start = Math.floor(from / step) * step
  return Array.from({ length: Math.ceil((to - start) / step) }, (_, at) => ({
    startMs: (start + at * step) * 1_000,
    values: { use: used.get(start + at * step) ?? 0 },
  }))
}
