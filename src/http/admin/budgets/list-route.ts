import type { Budget } from '../../../domain/budgets/budget.ts'
import { readBudgetSummaries, type BudgetSummary } from '../../../domain/budgets/status.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import { presentBudget } from './body.ts'
import { BudgetList, BudgetQuery, mostWithStatus } from './list-schema.ts'
import { memberNames } from './member-names.ts'
import type { BudgetReportParts } from './plan-route.ts'
import { presentSummary } from './present-status.ts'
import { budgetsPath, type BudgetStores } from './routes.ts'

type ListParts = Omit<BudgetReportParts, 'administration'>

export function budgetListRoute({ read }: AdminReads<BudgetStores>, parts: ListParts): Route {
  return read({
    name: 'listBudgets',
    isManaged: true,
    path: budgetsPath,
    summary: 'List budgets',
    permission: 'budgets:read',
    isReport: ({ include }) => include !== undefined,
    params: none,
    query: BudgetQuery,
    answer: { description: 'A page of budgets.', schema: BudgetList },
    async operation({ budgets }, { actor, query }) {
      const { search, state, include, limit } = query
      if (include !== undefined && limit > mostWithStatus)
        throw invalidField(['limit'], `must be at most ${mostWithStatus} with include=status`)
      const page = { ...pageOf(query), ...(search !== undefined && { search }), ...(state && { state }) }
      const found = await budgets.list(actor.organization.id, page)
      if (include === undefined) return presentList(found, presentBudget)
      const statusOf = await readStatuses(found.items, actor, parts)
      return presentList(found, (budget) => ({ ...presentBudget(budget), status: statusOf(budget) }))
    },
  })
}

async function readStatuses(budgets: readonly Budget[], actor: Administrator, { spent, names, clock }: ListParts) {
  const found = await readBudgetSummaries(budgets, spent.ofPeriod, clock.nowMs())
  const summaries = new Map(budgets.map(({ id }, at) => [id, found[at]]))
  const namesOf = async (per: 'project' | 'key') => {
    const members = budgets.flatMap((budget) => (budget.per === per ? highestOf(summaries.get(budget.id)) : []))
    return members.length === 0 ? () => null : await memberNames(names, actor, { per, members })
  }
  const nameIn = { project: await namesOf('project'), key: await namesOf('key') }
  return (budget: Budget) => {
    const { id, per } = budget
    const summary = summaries.get(id)
    const nameOf = per === 'project' || per === 'key' ? nameIn[per] : () => null
    return summary === undefined ? null : presentSummary(budget, summary, nameOf)
  }
}

const highestOf = (summary: BudgetSummary | undefined): readonly string[] =>
  summary?.highest?.member == null ? [] : [summary.highest.member]
