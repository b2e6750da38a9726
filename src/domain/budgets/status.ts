import { hourMs } from '../../base/clock.ts'
import { amountAt, type Budget } from './budget.ts'
import { periodAt, type PeriodRange } from './period.ts'
import type { MemberSpent, ReadSpent } from './spent.ts'

/** What a member has spent and has left. Amounts are in the unit of the budget. */
export type BudgetMemberStatus = MemberSpent & {
  readonly amount: number
  /** Never below 0. */
  readonly left: number
  /** Of the amount, rounded down to hundredths; above 100 if more was spent. */
  readonly percent: number
  /** What is spent at the end of the period if it goes on like this; null without an end, and in the first hour. */
  readonly forecast: number | null
}

export type BudgetStatus = {
  readonly budget: Budget
  readonly period: PeriodRange
  /** The highest share first. */
  readonly members: readonly BudgetMemberStatus[]
  readonly hasMore: boolean
}

const maxMembers = 100

export async function readBudgetStatus(budget: Budget, readSpent: ReadSpent, nowMs: number): Promise<BudgetStatus> {
  const period = periodAt(budget, nowMs)
  const found = await readSpent(budget, { startMs: period.startMs, nowMs })
  const spent = budget.per === 'all' && found.length === 0 ? [{ member: null, spent: 0 }] : found
  const amount = amountAt(budget, period.startMs, nowMs)
  const members = spent
    .toSorted((a, b) => b.spent - a.spent || String(a.member).localeCompare(String(b.member)))
    .slice(0, maxMembers)
    .map((each) => ({
      ...each,
      amount,
      left: Math.max(0, amount - each.spent),
      percent: Math.floor((each.spent / amount) * 10_000) / 100,
      forecast: forecastOf(each.spent, period, nowMs),
    }))
  return { budget, period, members, hasMore: spent.length > maxMembers }
}

function forecastOf(spent: number, { startMs, endMs }: PeriodRange, nowMs: number): number | null {
  if (endMs === null || nowMs - startMs < hourMs) return null
  return Math.round((spent * (endMs - startMs)) / (nowMs - startMs))
}
