import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import type { RequestFilters } from './search.ts'

export type RequestRow = components['schemas']['Request']
export type RequestDetail = components['schemas']['RequestDetail']
export type RequestContent = NonNullable<RequestDetail['content']>
export type Explanation = components['schemas']['RequestExplanation']
type RequestPage = components['schemas']['RequestList']

const pageSize = 100

/** Applications use API keys and tokens; everybody else sent the request from the playground. */
export const isFromPlayground = ({ actor_type: type }: Pick<RequestRow, 'actor_type'>): boolean =>
  type !== null && type !== 'api_key' && type !== 'jwt'

/** Pages of requests, newest first. The range is computed at each load, so that a reload shows what is new. */
export function useRequests(filters: RequestFilters) {
  const range = useTimeRangeSearch()
  return useInfiniteQuery({
    queryKey: ['requests', range, filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }): Promise<RequestPage> => {
      const { from, to } = timeRangeOf(range, Date.now())
      const query = { ...filters, from, to, limit: pageSize, after: pageParam }
      return dataOf(api.GET('/v1/organization/requests', { params: { query: defined(query) } }))
    },
    getNextPageParam: (page: RequestPage) => (page.has_more ? (page.last_id ?? undefined) : undefined),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false, // rows never move unless somebody asks for it
  })
}

/** How many requests match. It is asked apart from the list, which does not wait for it, and only if the list has more than a page. */
export function useRequestTotal(filters: RequestFilters, hasMore: boolean) {
  const range = useTimeRangeSearch()
  return useQuery({
    enabled: hasMore,
    queryKey: ['requests', 'total', range, filters],
    queryFn: async () => {
      const { from, to } = timeRangeOf(range, Date.now())
      const query = defined({ ...filters, from, to, limit: 1, include: 'total' })
      const { total, is_total_exact: isExact } = await dataOf(
        api.GET('/v1/organization/requests', { params: { query } }),
      )
      return total === undefined ? null : { total, isExact: isExact === true }
    },
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
}

export const useRequest = (requestId: string) =>
  useQuery({
    queryKey: ['request', requestId],
    queryFn: (): Promise<RequestDetail> =>
      dataOf(api.GET('/v1/organization/requests/{request_id}', { params: { path: { request_id: requestId } } })),
  })

/** Without words of texts. Versions do not change, so it is loaded once. */
export const useExplanation = (requestId: string) =>
  useQuery({
    queryKey: ['request', requestId, 'explanation'],
    queryFn: (): Promise<Explanation> =>
      dataOf(
        api.GET('/v1/organization/requests/{request_id}/explanation', { params: { path: { request_id: requestId } } }),
      ),
    staleTime: Infinity,
  })

/** The kept texts. Loaded once, because the server records each read, and dropped when no component shows them. */
export const useRequestContent = (requestId: string, isShown: boolean) =>
  useQuery({
    queryKey: ['request', requestId, 'content'],
    queryFn: async (): Promise<RequestContent | null> => {
      const params = { path: { request_id: requestId }, query: { include: 'content' as const } }
      return (await dataOf(api.GET('/v1/organization/requests/{request_id}', { params }))).content
    },
    enabled: isShown,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })

const defined = (query: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
