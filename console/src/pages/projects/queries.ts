import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { definedOf, useList } from '../../api/use-list.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import type { ProjectsSearch } from './search.ts'

export type Project = components['schemas']['Project']
export type ApiKey = components['schemas']['ProjectApiKey']
export type AdminKey = components['schemas']['AdminApiKey']
export type AnyKey = ApiKey | AdminKey
export type IssuedKey = components['schemas']['ApiKeyWithSecret'] | components['schemas']['AdminApiKeyWithSecret']
export type Permission = components['schemas']['Me']['permissions'][number]

export type RoleName = components['schemas']['Role']['id']

export const isApiKey = (key: AnyKey): key is ApiKey => 'project_id' in key

const pageSize = 100

export const useApiKeys = ({ search, status, project_id }: ProjectsSearch) =>
  useList<ApiKey>(['api_keys', { search, status, project_id }], (after, signal) => {
    const query = definedOf({ search, status, project_id, after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/api_keys', { params: { query }, signal }))
  })

export const useAdminKeys = ({ search, status }: ProjectsSearch) =>
  useList<AdminKey>(['admin_api_keys', { search, status }], (after, signal) => {
    const query = definedOf({ search, status, after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/admin_api_keys', { params: { query }, signal }))
  })

export const useProjects = ({ search, status }: ProjectsSearch) =>
  useList<Project>(['projects', { search, status }], (after, signal) => {
    const query = definedOf({ search, status, after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/projects', { params: { query }, signal }))
  })

type Budget = components['schemas']['Budget']
type BudgetMember = components['schemas']['BudgetMember']

/** The member with the highest share is undefined if nothing was spent. */
export type KeyBudget = { readonly budget: Budget; readonly highest: BudgetMember | undefined }

const mostBudgets = 5

/** The first budgets that name a key, with what is spent of them. Needs `budgets:read`. */
export const useBudgetsOfKey = (keyId: string) =>
  useQuery({
    queryKey: ['budgets', 'of_key', keyId],
    queryFn: async ({ signal }): Promise<readonly KeyBudget[]> => {
      const all = await readBudgets(signal)
      const found = all.filter(({ match }) => match.api_key_ids.includes(keyId)).slice(0, mostBudgets)
      return Promise.all(
        found.map(async (budget) => {
          const params = { path: { budget_id: budget.id } }
          const status = await dataOf(api.GET('/v1/organization/budgets/{budget_id}/status', { params, signal }))
          return { budget, highest: status.members[0] }
        }),
      )
    },
  })

/** The API has no filter for the key. An organization has at most 200 budgets. */
async function readBudgets(signal: AbortSignal, after?: string): Promise<readonly Budget[]> {
  const query = definedOf({ after, limit: pageSize })
  const page = await dataOf(api.GET('/v1/organization/budgets', { params: { query }, signal }))
  if (!page.has_more || page.last_id === null) return page.data
  return [...page.data, ...(await readBudgets(signal, page.last_id))]
}

export const useRoles = () =>
  useQuery({ queryKey: ['roles'], queryFn: () => dataOf(api.GET('/v1/organization/roles')), staleTime: Infinity })

/** Dollars by the id of an API key, in the time range of the page. Needs `usage:read`. */
export function useSpendByKey(isEnabled: boolean): ReadonlyMap<string, number> | undefined {
  const search = useTimeRangeSearch()
  return useQuery({
    queryKey: ['usage', 'api_key', search],
    enabled: isEnabled,
    queryFn: () => {
      const { from, to } = timeRangeOf(search, Date.now())
      const period = { start_time: from, ...(to !== undefined && { end_time: to }) }
      const query = { ...period, bucket: 'total' as const, group_by: ['api_key' as const] }
      return dataOf(api.GET('/v1/organization/usage', { params: { query } }))
    },
    select: ({ data }) => {
      const dollars = new Map<string, number>()
      for (const { api_key_id: id, cost_usd: cost } of data.flatMap(({ results }) => results))
        if (id !== null) dollars.set(id, (dollars.get(id) ?? 0) + cost)
      return dollars
    },
    placeholderData: keepPreviousData,
  }).data
}
