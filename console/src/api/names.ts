import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

/** Names by id. People know names; the API's rows have ids. */
export type Names = ReadonlyMap<string, string>

const none: Names = new Map()

const namesIn = (list: { readonly data: readonly { readonly id: string; readonly name: string }[] }): Names =>
  new Map(list.data.map(({ id, name }) => [id, name]))

const query = { limit: 100 } as const
const staleTime = 60_000

export const useProjectNames = (): Names =>
  useQuery({
    queryKey: ['names', 'projects'],
    queryFn: () => dataOf(api.GET('/v1/organization/projects', { params: { query } })),
    select: namesIn,
    staleTime,
  }).data ?? none

export const useKeyNames = (): Names =>
  useQuery({
    queryKey: ['names', 'api_keys'],
    queryFn: () => dataOf(api.GET('/v1/organization/api_keys', { params: { query } })),
    select: namesIn,
    staleTime,
  }).data ?? none
