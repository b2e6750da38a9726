import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { timeRangeOf, useTimeRangeSearch, type TimeRange } from './time-range.ts'
import { api, dataOf } from '../api/client.ts'
import type { components } from '../api/schema.d.ts'

export type Traffic = components['schemas']['Traffic']

const refreshMs = 10_000

/** Filters of the sums, by their names in the API. */
export type TrafficFilters = Readonly<Record<string, readonly string[]>>

const noFilters: TrafficFilters = {}

/** Requests over the time range of the page by decision. */
export function useTrafficByDecision(filters = noFilters) {
  const search = useTimeRangeSearch()
  return useQuery({
    queryKey: ['traffic', 'decision', search, filters],
    queryFn: (): Promise<Traffic> => {
      const range = timeRangeOf(search, Date.now())
      const period = { from: range.from, ...(range.to !== undefined && { to: range.to }) }
      const query = { ...filters, ...period, step: stepFor(range), group_by: 'decision' as const }
      return dataOf(api.GET('/v1/organization/traffic', { params: { query } }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })
}

export const stepSeconds = { '1m': 60, '1h': 3_600, '1d': 86_400 } as const

export function stepFor({ from, to }: TimeRange): keyof typeof stepSeconds {
  const seconds = (to ?? Date.now() / 1_000) - from
  if (seconds <= 6 * 3_600) return '1m'
  return seconds <= 8 * 86_400 ? '1h' : '1d'
}
