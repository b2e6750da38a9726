import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './client.ts'

/** Names by id. People know names; the API's rows have ids. */
export type Names = ReadonlyMap<string, string>

const none: Names = new Map()
const noNames: readonly string[] = []

type Named = { readonly id: string; readonly name: string | null }

const namesIn = (list: { readonly data: readonly Named[] }): Names =>
  new Map(list.data.flatMap(({ id, name }) => (name === null ? [] : [[id, name]])))

/** How many are read. An organization with more has some without a name here. */
export const mostNames = 100
const query = { limit: mostNames } as const
const staleTime = 60_000

/** The names of models that callers can send; empty until they are loaded. */
export const useModelNames = (): readonly string[] =>
  useQuery({
    queryKey: ['names', 'models'],
    queryFn: () => dataOf(api.GET('/v1/organization/models')),
    select: ({ data }) => data.flatMap((model) => model.names),
    staleTime,
  }).data ?? noNames

type ModelOffers = { readonly names: readonly string[]; readonly prefixes: readonly string[] }

const noOffers: ModelOffers = { names: [], prefixes: [] }

/** The models that callers can send, and the prefixes of further names; empty until they are loaded. */
export const useModelOffers = (): ModelOffers =>
  useQuery({
    queryKey: ['names', 'models'],
    queryFn: () => dataOf(api.GET('/v1/organization/models')),
    select: ({ data }): ModelOffers => ({
      names: [...new Set(data.flatMap((model) => model.names))],
      prefixes: data.filter(({ kind }) => kind === 'prefix').map(({ name }) => name.replace(/\*$/, '')),
    }),
    staleTime,
  }).data ?? noOffers

export const useProjectNames = (mayRead = true): Names =>
  useQuery({
    queryKey: ['names', 'projects'],
    queryFn: () => dataOf(api.GET('/v1/organization/projects', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

export const useKeyNames = (mayRead = true): Names =>
  useQuery({
    queryKey: ['names', 'api_keys'],
    queryFn: () => dataOf(api.GET('/v1/organization/api_keys', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

/** Names of what administrators change. Empty where the signed-in key may not list it. */
export const usePolicyNames = (mayRead: boolean): Names =>
  useQuery({
    queryKey: ['names', 'policies'],
    queryFn: () => dataOf(api.GET('/v1/organization/policies', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

export const useJudgeNames = (mayRead: boolean): Names =>
  useQuery({
    queryKey: ['names', 'judges'],
    queryFn: () => dataOf(api.GET('/v1/organization/judges', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

export const useBudgetNames = (mayRead: boolean): Names =>
  useQuery({
    queryKey: ['names', 'budgets'],
    queryFn: () => dataOf(api.GET('/v1/organization/budgets', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

export const useAdminKeyNames = (mayRead: boolean): Names =>
  useQuery({
    queryKey: ['names', 'admin_api_keys'],
    queryFn: () => dataOf(api.GET('/v1/organization/admin_api_keys', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none

export const useMemberNames = (mayRead: boolean): Names =>
  useQuery({
    queryKey: ['names', 'members'],
    queryFn: () => dataOf(api.GET('/v1/organization/members', { params: { query } })),
    select: namesIn,
    enabled: mayRead,
    staleTime,
  }).data ?? none
