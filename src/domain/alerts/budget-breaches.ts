import { displayedAmount } from '../budgets/amount.ts'
import type { Budget } from '../budgets/budget.ts'
import type { BudgetMemberStatus, BudgetStatus } from '../budgets/status.ts'
import { amountOf, type Breach, type FigureParts } from './breach.ts'
import type { AlertRule } from './rule.ts'

export type BudgetBreachParts = {
  /** Of the active budgets, in their current period. */
  readonly statuses: () => Promise<readonly BudgetStatus[]>
  readonly nameOf: FigureParts['nameOf']
}

/** Budgets of which a member has used this share. Each has one alert, however many members there are. */
export async function budgetBreaches(
  { threshold, filter }: AlertRule,
  { statuses, nameOf }: BudgetBreachParts,
): Promise<Breach[]> {
  if (threshold === null) return []
  const breaches: Breach[] = []
  for (const status of await statuses()) {
    const { budget, members } = status
    if (filter?.name === 'budget_id' && filter.id !== budget.id) continue
    const [highest, ...others] = members.filter(({ percent }) => percent >= threshold)
    if (highest === undefined) continue
    const name = highest.member === null ? null : await memberName(budget, highest.member, nameOf)
    breaches.push(breachOf(status, { highest, name, others: others.length, threshold }))
  }
  return breaches
}

async function memberName({ per }: Budget, member: string, nameOf: BudgetBreachParts['nameOf']): Promise<string> {
  if (per === 'project') return nameOf({ name: 'project_id', id: member })
  if (per === 'key') return nameOf({ name: 'api_key_id', id: member })
  return per === 'user' ? `The user ${member}` : `The tag ${per.slice('tag:'.length)}=${member}`
}

type Reached = {
  readonly highest: BudgetMemberStatus
  /** Null if all requests share the amount. */
  readonly name: string | null
  readonly others: number
  readonly threshold: number
}

function breachOf({ budget, period, hasMore }: BudgetStatus, { highest, name, others, threshold }: Reached): Breach {
  const { percent, spent, amount } = highest
  const unit = budget.unit === 'usd' ? 'USD' : budget.unit
  const shown = (value: number): string => amountOf(displayedAmount(budget.unit, value))
  const used = `${shown(spent)} of ${shown(amount)} ${unit} of the budget ${budget.name}`
  const what = name === null ? `${used} are spent` : `${name} has spent ${used}`
  const more = hasMore ? `at least ${others}` : others
  const further = others === 0 ? '' : `, and ${more} more ${others === 1 ? 'is' : 'are'} over the threshold`
  const again = period.endMs === null ? '' : ` It begins again on ${new Date(period.endMs).toISOString()}.`
  return {
    subject: budget.id,
    title: `The budget ${budget.name} is used by ${amountOf(percent)} %`,
    text: `${what} (${amountOf(percent)} %)${further}. The threshold is ${amountOf(threshold)} %.${again}`,
    figure: percent,
    link: { page: 'costs', search: { view: 'budgets', budget: budget.id } },
  }
}
