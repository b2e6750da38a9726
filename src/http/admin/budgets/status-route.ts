import type { ReadHeld } from '../../../domain/budgets/held.ts'
import { findBudget } from '../../../domain/budgets/mutations.ts'
import { readBudgetStatus } from '../../../domain/budgets/status.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { memberNames } from './member-names.ts'
import type { BudgetReportParts } from './plan-route.ts'
import { budgetAt, budgetPath, type BudgetStores } from './routes.ts'
import { presentStatus } from './present-status.ts'
import { BudgetStatusObject } from './report-schema.ts'
import { BudgetParams } from './schema.ts'

/** What was spent of a budget in the current period. */
export function budgetStatusRoute(
  { read }: AdminReads<BudgetStores>,
  { spent, names, clock, readHeld }: BudgetReportParts & { readonly readHeld: ReadHeld },
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
      const held = await readHeld({ ...status, members })
      return presentStatus(status, held, await memberNames(names, actor, { per: budget.per, members }))
    },
  })
}
