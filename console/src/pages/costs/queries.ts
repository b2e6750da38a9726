import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { definedOf, useList } from '../../api/use-list.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'

export type Costs = components['schemas']['Costs']
export type Budget = components['schemas']['Budget']
export type ListedBudget = components['schemas']['ListedBudget']
export type BudgetPlan = components['schemas']['BudgetPlan']
export type BudgetStatus = components['schemas']['BudgetStatus']
export type BudgetBody = components['schemas']['BudgetCreate']
type BudgetChange = Omit<components['schemas']['BudgetUpdate'], 'revision'>

export const costsPath = '/v1/organization/costs'
export const budgetsPath = '/v1/organization/budgets'

/** What a change of a budget makes old. */
const budgetsKey = ['budgets']

/** The most for which the server reads what is spent. */
const pageSize = 20

export const useBudgets = () =>
  useList<ListedBudget>([...budgetsKey, 'list'], (after, signal) => {
    const query = definedOf({ after, limit: pageSize, include: 'status' })
    return dataOf(api.GET('/v1/organization/budgets', { params: { query }, signal }))
  })

const at = (id: string) => ({ params: { path: { budget_id: id } } })

export const useBudget = (id: string) =>
  useQuery({
    queryKey: [...budgetsKey, 'one', id],
    queryFn: (): Promise<Budget> => dataOf(api.GET('/v1/organization/budgets/{budget_id}', at(id))),
  })

export const useCreateBudget = (onDone: (budget: Budget) => void) =>
  useChange({
    refresh: [budgetsKey],
    onDone,
    send: (body: BudgetBody) => dataOf(api.POST('/v1/organization/budgets', { body })),
  })

/** Whom a budget with these fields would have stopped. Nothing is changed. */
export const usePlan = () =>
  useMutation({
    mutationFn: (body: BudgetBody): Promise<BudgetPlan> => dataOf(api.POST('/v1/organization/budgets/plan', { body })),
    retry: false,
  })

/** The change names the revision that is shown, so that it replaces no change of somebody else. */
export const useUpdateBudget = ({ id, revision }: Pick<Budget, 'id' | 'revision'>, onDone: () => void) =>
  useChange({
    refresh: [budgetsKey],
    onDone,
    send: (body: BudgetChange): Promise<unknown> =>
      api.PATCH('/v1/organization/budgets/{budget_id}', { ...at(id), body: { revision, ...body } }),
  })

export const useDeleteBudget = (id: string, onDone: () => void) =>
  useChange({
    refresh: [[...budgetsKey, 'list']],
    onDone,
    send: (): Promise<unknown> => api.DELETE('/v1/organization/budgets/{budget_id}', at(id)),
  })

const refreshMs = 10_000

/** What is spent of the open budget in the current period. It follows what happens. */
export const useStatus = (id: string) =>
  useQuery({
    queryKey: [...budgetsKey, 'status', id],
    queryFn: (): Promise<BudgetStatus> => dataOf(api.GET('/v1/organization/budgets/{budget_id}/status', at(id))),
    refetchInterval: refreshMs,
  })

/** Costs of the time range of the page: of each group, and by day. */
export type Spend = {
  readonly group: string
  readonly groups: Costs
  readonly days: { readonly byGroup: Costs; readonly all: Costs }
}

/** Rows of the table. Those beyond it are summed up. */
const mostGroups = 100
const mostRows = 5_000

export function useSpend(group: string) {
  const search = useTimeRangeSearch()
  return useQuery({
    queryKey: ['costs', group, search],
    queryFn: async (): Promise<Spend> => {
      const { from, to = Math.ceil(Date.now() / 1_000) } = timeRangeOf(search, Date.now())
      const read = (dimensions: readonly string[], limit: number): Promise<Costs> => {
        const query = { from, to, group_by: [...dimensions], limit }
        return dataOf(api.GET('/v1/organization/costs', { params: { query } }))
      }
      const [groups, byGroup, all] = await Promise.all([
        read([group], mostGroups),
        read([group, 'day'], mostRows),
        read(['day'], mostRows),
      ])
      return { group, groups, days: { byGroup, all } }
    },
    placeholderData: keepPreviousData,
  })
}
