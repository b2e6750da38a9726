import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { stepFor } from '../../session/traffic.ts'

export type OverviewPeriod = components['schemas']['OverviewPeriod']

const refreshMs = 10_000

/** The figures of the time range, and those of the period before it. */
export function useOverviewPeriod() {
  const search = useTimeRangeSearch()
  return useQuery({
    queryKey: ['overview', 'period', search],
    queryFn: (): Promise<OverviewPeriod> => {
      const range = timeRangeOf(search, Date.now())
      const query = { from: range.from, ...(range.to !== undefined && { to: range.to }), step: stepFor(range) }
      return dataOf(api.GET('/v1/organization/overview/period', { params: { query } }))
    },
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs,
  })
}
