import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'

type Page<Row> = { readonly data: readonly Row[]; readonly has_more: boolean; readonly last_id: string | null }

type Load<Row> = (after: string | undefined, signal: AbortSignal) => Promise<Page<Row>>

/** The rows of all loaded pages of a list. A request that a later one replaces is cancelled. */
export function useList<Row>(queryKey: readonly unknown[], load: Load<Row>) {
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    getNextPageParam: (page: Page<Row>) => (page.has_more ? (page.last_id ?? undefined) : undefined),
    placeholderData: keepPreviousData,
  })
  return { ...query, rows: query.data?.pages.flatMap(({ data }) => data) ?? [] }
}

/** What a list needs of `useList`. */
export type ListQuery<Row> = {
  readonly rows: readonly Row[]
  readonly isPending: boolean
  readonly isError: boolean
  readonly error: unknown
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => unknown
  readonly refetch: () => unknown
}

/** The parameters of a query that are set. */
export const definedOf = (query: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
