import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

/** Names by id. People know names; the API's rows have ids. */
export type Names = ReadonlyMap<string, string>

const none: Names = new Map()
const noNames: readonly string[] = []

const namesIn = (list: { readonly data: readonly { readonly id: string; readonly name: string }[] }): Names =>
  new Map(list.data.map(({ id, name }) => [id, name]))

const query = { limit: 100 } as const
const staleTime = 60_000

/** The names of models that callers can send; empty until they are loaded. */
export const useModelNames = (): readonly string[] =>
  useQuery({
    queryKey: ['names', 'models'],
    queryFn: () => dataOf(api.GET('/v1/organization/models')),
    select: ({ data }) => data.flatMap((model) => model.names),
    staleTime,
  }).data ?? noNames

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
