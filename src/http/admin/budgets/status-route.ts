import { toUnixSeconds } from '../../../base/clock.ts'
import { displayedAmount } from '../../../domain/budgets/amount.ts'
import { findBudget } from '../../../domain/budgets/mutations.ts'
import { readBudgetStatus, type BudgetStatus } from '../../../domain/budgets/status.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { memberNames } from './member-names.ts'
import type { BudgetReportParts } from './plan-route.ts'
import { budgetAt, budgetPath, type BudgetStores } from './routes.ts'
import { BudgetStatusObject, type BudgetStatusBody } from './report-schema.ts'
import { BudgetParams } from './schema.ts'

/** What was spent of a budget in the current period. */
export function budgetStatusRoute(
  { read }: AdminReads<BudgetStores>,
  { spent, names, clock }: BudgetReportParts,
): Route {
  return read({
    name: 'getBudgetStatus',
    path: `${budgetPath}/status`,
    summary: 'Read what was spent of a budget',
    description:
      'The current period, by member. A request counts once it has ended. Costs are those of the price list of the request, also where nothing was charged.',
    permission: 'budgets:read',
    isReport: true,
    params: BudgetParams,
    query: none,
    answer: { description: 'The members that have spent something.', schema: BudgetStatusObject },
    async operation({ budgets }, { actor, params }) {
      const budget = await findBudget(budgets, budgetAt(actor, params))
      const status = await readBudgetStatus(budget, spent.ofPeriod, clock.nowMs())
      const members = status.members.map(({ member }) => member)
      return present(status, await memberNames(names, actor, { per: budget.per, members }))
    },
  })
}

function present(
  { budget, period, members, hasMore }: BudgetStatus,
  nameOf: (member: string | null) => string | null,
): BudgetStatusBody {
  const shown = (amount: number): number => displayedAmount(budget.unit, amount)
  return {
    object: 'organization.budget.status',
    budget_id: budget.id,
    period_start: toUnixSeconds(period.startMs),
    period_end: period.endMs === null ? null : toUnixSeconds(period.endMs),
    unit: budget.unit,
    members: members.map(({ member, amount, spent, left, percent, forecast }) => ({
      member,
      name: nameOf(member),
      amount: shown(amount),
      spent: shown(spent),
      left: shown(left),
      percent,
      forecast: forecast === null ? null : shown(forecast),
    })),
    has_more: hasMore,
  }
}
