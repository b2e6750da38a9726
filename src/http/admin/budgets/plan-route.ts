import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import type { BudgetAdministration } from '../../../domain/budgets/mutations.ts'
import { planBudget, type BudgetPlan } from '../../../domain/budgets/plan.ts'
import type { SpentReads } from '../../../domain/budgets/spent.ts'
import type { NamesOf } from '../../../domain/costs/names.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { settingsOf } from './body.ts'
import { memberNames } from './member-names.ts'
import { budgetsPath, type BudgetStores } from './routes.ts'
import { BudgetPlanObject, type BudgetPlanBody } from './report-schema.ts'
import { CreateBudget } from './schema.ts'

export type BudgetReportParts = {
  readonly administration: Pick<BudgetAdministration, 'draft'>
  readonly spent: SpentReads
  readonly names: NamesOf
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Whom a budget would have stopped. */
export function budgetPlanRoute(
  { query }: AdminReads<BudgetStores>,
  { administration, spent, names, clock }: BudgetReportParts,
): Route {
  return query({
    name: 'planBudget',
    path: `${budgetsPath}/plan`,
    summary: 'Plan a budget',
    description:
      'Whom a budget with these fields would have stopped in the last 30 days, from what was spent each hour. Nothing is created. An `extra` is left out, and a budget for `once` counts as if it had begun 30 days ago. Other budgets are not considered.',
    permission: 'budgets:read',
    isReport: true,
    params: none,
    body: CreateBudget,
    answer: { description: 'The members that would have been stopped.', schema: BudgetPlanObject },
    async operation({ budgets }, { actor, body }) {
      const budget = await administration.draft(budgets, actor.organization.id, settingsOf(body))
      const plan = await planBudget(budget, spent.byHour, clock.nowMs())
      const members = plan.stops.map(({ member }) => member)
      return present(plan, await memberNames(names, actor, { per: budget.per, members }))
    },
  })
}

const present = (plan: BudgetPlan, nameOf: (member: string | null) => string | null): BudgetPlanBody => ({
  object: 'organization.budget.plan',
  from: toUnixSeconds(plan.fromMs),
  to: toUnixSeconds(plan.toMs),
  data: plan.stops.map(({ period, member, reachedAtMs, requestsAfter }) => ({
    period_start: toUnixSeconds(period.startMs),
    period_end: period.endMs === null ? null : toUnixSeconds(period.endMs),
    member,
    name: nameOf(member),
    reached_at: toUnixSeconds(reachedAtMs),
    requests_after: requestsAfter,
  })),
  has_more: plan.hasMore,
  requests: plan.requests,
  members: plan.members,
})
