import { toUnixSeconds } from '../../../base/clock.ts'
import { displayedAmount } from '../../../domain/budgets/amount.ts'
import type { Budget } from '../../../domain/budgets/budget.ts'
import type { PeriodRange } from '../../../domain/budgets/period.ts'
import type { BudgetMemberStatus, BudgetStatus, BudgetSummary } from '../../../domain/budgets/status.ts'
import type { BudgetSummaryBody } from './list-schema.ts'
import type { BudgetMemberBody, BudgetStatusBody } from './report-schema.ts'

type NameOf = (member: string | null) => string | null

export const presentStatus = (
  { budget, period, members, hasMore }: BudgetStatus,
  held: readonly number[] | null,
  nameOf: NameOf,
): BudgetStatusBody => ({
  object: 'organization.budget.status',
  budget_id: budget.id,
  ...presentPeriod(period),
  unit: budget.unit,
  members: members.map((member, at) => ({
    ...presentMember(budget, member, nameOf),
    held: held === null ? null : displayedAmount(budget.unit, held[at] ?? 0),
  })),
  has_more: hasMore,
})

export const presentSummary = (
  budget: Budget,
  { period, members, near, highest }: BudgetSummary,
  nameOf: NameOf,
): BudgetSummaryBody => ({
  ...presentPeriod(period),
  members,
  near,
  highest: highest === undefined ? null : presentMember(budget, highest, nameOf),
})

const presentPeriod = ({ startMs, endMs }: PeriodRange) => ({
  period_start: toUnixSeconds(startMs),
  period_end: endMs === null ? null : toUnixSeconds(endMs),
})

function presentMember(
  { unit }: Budget,
  { member, amount, spent, left, percent, forecast }: BudgetMemberStatus,
  nameOf: NameOf,
): BudgetMemberBody {
  const shown = (of: number): number => displayedAmount(unit, of)
  return {
    member,
    name: nameOf(member),
    amount: shown(amount),
    spent: shown(spent),
    left: shown(left),
    percent,
    forecast: forecast === null ? null : shown(forecast),
  }
}
