/** What a budget counts: cost, tokens of input and output, or requests. */
export const budgetUnits = ['usd', 'tokens', 'requests'] as const
export type BudgetUnit = (typeof budgetUnits)[number]

/** `once` never starts again. The others are periods of the calendar. */
export const budgetPeriods = ['day', 'week', 'month', 'once'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** The requests that a budget applies to. An empty list matches all. */
export type BudgetMatch = {
  readonly projectIds: readonly string[]
  readonly keyIds: readonly string[]
  /** Names as callers send them. One that ends with `*` is the start of a name. */
  readonly models: readonly string[]
  readonly users: readonly string[]
  readonly tags: Readonly<Record<string, readonly string[]>>
}

/** Who has an amount of their own: `all` is one amount for all requests together. */
export type BudgetPer = 'all' | 'project' | 'key' | 'user' | `tag:${string}`

/** What happens to a request that exceeds the amount. */
export type BudgetAction =
  | { readonly type: 'deny' }
  | { readonly type: 'warn' }
  | { readonly type: 'use_model'; readonly model: string }

/** Raises the amount until a time, which is at most the end of the period in which it was given. */
export type BudgetExtra = {
  /** In the unit of the budget. */
  readonly amount: number
  readonly untilMs: number
  readonly reason: string
}

/** An amount that requests may spend in each period. */
export type Budget = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly match: BudgetMatch
  readonly per: BudgetPer
  readonly unit: BudgetUnit
  /** Micro-dollars, tokens or requests. */
  readonly amount: number
  readonly period: BudgetPeriod
  /** The IANA name of the time zone in which periods begin. */
  readonly timeZone: string
  readonly action: BudgetAction
  /** Percent of the amount, ascending. Each is reported once in a period. */
  readonly warnAt: readonly number[]
  readonly extra: BudgetExtra | null
  readonly state: 'active' | 'paused'
  /** Incremented by every change. */
  readonly revision: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** The amount of the period that begins at a time, with the extra if it applies. Without `nowMs`, as at the begin of the period. */
export function amountAt(
  { amount, extra }: Pick<Budget, 'amount' | 'extra'>,
  periodStartMs: number,
  nowMs = periodStartMs,
): number {
  return extra !== null && nowMs < extra.untilMs ? amount + extra.amount : amount
}
