import { keepPreviousData, useMutation, useQueries, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { definedOf, useList } from '../../api/use-list.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import type { LedgerKind, UseGroup } from './search.ts'

type Schemas = components['schemas']
export type Balance = Schemas['Balance']
export type Usage = Schemas['Usage']
export type Limits = Schemas['Limits']
export type LimitOverride = Schemas['LimitOverride']
export type LedgerEntry = Schemas['LedgerEntry']

export const balanceKey = ['credits']
export const limitsKey = ['limits']
export const ledgerKey = ['ledger']

const daySeconds = 86_400
const refreshMs = 10_000

export const useBalance = () =>
  useQuery({
    queryKey: balanceKey,
    queryFn: (): Promise<Balance> => dataOf(api.GET('/v1/organization/credits')),
    refetchInterval: refreshMs,
  })

/** Use over the time range of the page: what each group used in all, and what all of them used over time. */
export type GroupedUsage = { readonly groups: Usage; readonly course: Usage }

export function useUsage(group: UseGroup) {
  const search = useTimeRangeSearch()
  return useQuery({
    queryKey: ['usage', group, search],
    queryFn: async (): Promise<GroupedUsage> => {
      const { bucket, ...period } = stepsOf(search)
      const [groups, course] = await Promise.all([
        readUsage({ ...period, bucket: 'total', group }),
        readUsage({ ...period, bucket }),
      ])
      return { groups, course }
    },
    placeholderData: keepPreviousData,
  })
}

/** Reads the use of each group over time, for a file. */
export function useUsageSteps(group: UseGroup, onRead: (usage: Usage) => void) {
  const search = useTimeRangeSearch()
  return useMutation({ mutationFn: () => readAllPages({ ...stepsOf(search), group }), onSuccess: onRead, retry: false })
}

async function readAllPages(query: UsageQuery): Promise<Usage> {
  let all = await readUsage(query)
  while (all.next_page !== null) {
    const next = await readUsage({ ...query, page: all.next_page })
    all = { ...next, data: [...all.data, ...next.data] }
  }
  return all
}

/** A time range, by hour where that gives a readable chart. */
function stepsOf(search: ReturnType<typeof useTimeRangeSearch>): Pick<UsageQuery, 'from' | 'to' | 'bucket'> {
  const { from, to = Math.ceil(Date.now() / 1_000) } = timeRangeOf(search, Date.now())
  return { from, to, bucket: to - from <= 2 * daySeconds ? 'hour' : 'day' }
}

type UsageQuery = {
  readonly from: number
  readonly to: number
  readonly group?: UseGroup
  readonly bucket: 'hour' | 'day' | 'total'
  readonly page?: string
}

const readUsage = ({ from, to, group, bucket, page }: UsageQuery): Promise<Usage> => {
  const groupBy = group === undefined ? [] : [group]
  const query = { start_time: from, end_time: to, bucket, group_by: groupBy, ...(page !== undefined && { page }) }
  return dataOf(api.GET('/v1/organization/usage', { params: { query } }))
}

const burnDays = 7

/** Credits per day, on average over the last week. */
export const useBurn = () =>
  useQuery({
    queryKey: ['usage', 'burn'],
    queryFn: () => {
      const to = Math.ceil(Date.now() / 1_000)
      return readUsage({ from: to - burnDays * daySeconds, to, bucket: 'total' })
    },
    select: ({ data }) => {
      const credits = data.flatMap(({ results }) => results).reduce((sum, result) => sum + result.credits, 0)
      return credits / burnDays
    },
  })

export type LimitSubject = { readonly project_id?: string | undefined; readonly api_key_id?: string | undefined }

const limitsQuery = (subject: LimitSubject) => ({
  queryKey: [...limitsKey, 'of', subject],
  queryFn: (): Promise<Limits> => {
    const { project_id: project, api_key_id: key } = subject
    const query = { ...(project && { project_id: project }), ...(key && { api_key_id: key }) }
    return dataOf(api.GET('/v1/organization/limits', { params: { query } }))
  },
  refetchInterval: refreshMs,
})

export const useLimits = (subject: LimitSubject) =>
  useQuery({ ...limitsQuery(subject), placeholderData: keepPreviousData })

const busiest = 20

/** The limits of the keys with the most requests of the last day: only a key that is used can be close to a limit. */
export function useLimitsOfBusiestKeys() {
  const used = useQuery({
    queryKey: ['usage', 'busiest'],
    queryFn: () => {
      const to = Math.ceil(Date.now() / 1_000)
      return readUsage({ from: to - daySeconds, to, group: 'api_key', bucket: 'total' })
    },
    select: busiestKeys,
  })
  const keys = used.data ?? []
  return useQueries({
    queries: keys.map((id) => limitsQuery({ api_key_id: id })),
    combine: (all) => ({
      isPending: used.isPending || all.some(({ isPending }) => isPending),
      limits: all.flatMap(({ data }, at) => (data === undefined ? [] : [[keys[at] ?? '', data] as const])),
    }),
  })
}

function busiestKeys({ data }: Usage): readonly string[] {
  const requests = new Map<string, number>()
  for (const { api_key_id: id, requests: count } of data.flatMap(({ results }) => results))
    if (id !== null) requests.set(id, (requests.get(id) ?? 0) + count)
  return [...requests]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, busiest)
    .map(([id]) => id)
}

export const useOverrides = () =>
  useQuery({
    queryKey: [...limitsKey, 'overrides'],
    queryFn: () => dataOf(api.GET('/v1/organization/limits/overrides')),
  })

export type LedgerFilter = {
  readonly kind?: LedgerKind | undefined
  readonly project_id?: string | undefined
  readonly request_id?: string | undefined
}

/** Pages of ledger entries, newest first. */
export function useLedger(filter: LedgerFilter) {
  const range = useTimeRangeSearch()
  return useList<LedgerEntry>([...ledgerKey, range, filter], (after, signal) => {
    const { from, to } = timeRangeOf(range, Date.now())
    const query = definedOf({ ...filter, from, to, limit: 100, after })
    return dataOf(api.GET('/v1/organization/credits/ledger', { params: { query }, signal }))
  })
}
