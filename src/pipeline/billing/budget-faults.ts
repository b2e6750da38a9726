import { Fault } from '../../base/fault.ts'
import { plural, retryIn } from '../../base/plural.ts'
import type { Budget } from '../../domain/budgets/budget.ts'
import { limitOf, type AppliedBudget } from '../../domain/budgets/counters.ts'
import { LimitedFault } from '../../domain/limits/limited-fault.ts'
import type { LimitStatus } from '../../domain/limits/status.ts'

export type ExceededBudget = {
  readonly applied: AppliedBudget
  /** Spent and held, in the unit of the ledger. */
  readonly used: number
  readonly limitStatus: LimitStatus
  readonly nowMs: number
  readonly creditUsd: number
}

/** A budget rejected the request. Its action may be to continue with another model. */
export class BudgetExceeded extends LimitedFault {
  readonly budget: Budget

  constructor(budget: Budget, ...[fields, limitStatus]: ConstructorParameters<typeof LimitedFault>) {
    super(fields, limitStatus)
    this.budget = budget
  }
}

/** A longer wait is not worth a header: clients would sleep for it, or give up with a worse error. */
const nearMs = 60 * 60 * 1000

const periodNames = { day: ' a day', week: ' a week', month: ' a month', once: '' } as const

/** Names the budget, whose share of it that is, what is used of it, and when it begins again. */
export function budgetExceeded({ applied, used, limitStatus, nowMs, creditUsd }: ExceededBudget): BudgetExceeded {
  const { budget, period, member } = applied
  const limit = limitOf(budget, period, { nowMs, creditUsd })
  const whose = member === null ? '' : ` for ${memberName(budget, member)}`
  const amount = `${amountOf(budget, limit, creditUsd)}${periodNames[budget.period]}${whose}`
  const left = `Left: ${amountOf(budget, Math.max(0, limit - used), creditUsd)}, and this request may need more.`
  const waitMs = period.endMs === null ? undefined : period.endMs - nowMs
  const isNear = waitMs !== undefined && waitMs <= nearMs
  const reset = isNear ? retryIn(waitMs / 1000) : resetOf(period.endMs)
  return new BudgetExceeded(
    budget,
    {
      kind: 'rate_limit',
      code: 'budget_exceeded',
      message: `The budget "${budget.name}" allows ${amount}. ${left} ${reset}`,
      details: isNear ? { retryAfterSeconds: waitMs / 1000 } : { isPermanent: true },
    },
    limitStatus,
  )
}

const memberName = ({ per }: Budget, member: string): string => {
  const shown = member.slice(0, 100)
  return per.startsWith('tag:') ? `${per.slice('tag:'.length)}=${shown}` : `the ${per} ${shown}`
}

const amountOf = ({ unit }: Budget, amount: number, creditUsd: number): string =>
  unit === 'usd' ? dollars((amount * creditUsd) / 1_000_000) : plural(amount, unit === 'tokens' ? 'token' : 'request')

/** Two decimals, and more where these would say nothing. */
const dollars = (usd: number): string =>
  `$${usd === 0 || usd >= 0.01 ? usd.toFixed(2) : String(Number(usd.toFixed(6)))}`

const resetOf = (endMs: number | null): string =>
  endMs === null
    ? 'It never begins again: ask for a higher amount.'
    : `It begins again at ${new Date(endMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`

/** What was spent cannot be read, so no request may start that a budget could reject. */
export const budgetsUnavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', 'budget_unavailable', 'What is left of a budget cannot be read right now.', {
    retryAfterSeconds: 5,
    cause,
  })
