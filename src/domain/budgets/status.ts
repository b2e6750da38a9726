import { hourMs } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
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
  const spent = await readMembers(budget, readSpent, { period, nowMs })
  const members = spent.toSorted(byShare).slice(0, maxMembers).map(statusOf(budget, { period, nowMs }))
  return { budget, period, members, hasMore: spent.length > maxMembers }
}

/** The status of a budget in a list. */
export type BudgetSummary = {
  readonly period: PeriodRange
  /** Those that have spent something. */
  readonly members: number
  /** Those that have reached the lowest threshold; 0 without thresholds. */
  readonly near: number
  /** The member with the highest share. */
  readonly highest: BudgetMemberStatus | undefined
}

/** Budgets that are read at once: a report has few connections to the database. */
const readAtOnce = 4

/** In the order of the budgets; undefined where the figures of one cannot be read. */
export async function readBudgetSummaries(
  budgets: readonly Budget[],
  readSpent: ReadSpent,
  nowMs: number,
): Promise<readonly (BudgetSummary | undefined)[]> {
  const found: (BudgetSummary | undefined)[] = []
  for (let at = 0; at < budgets.length; at += readAtOnce) {
    const reads = budgets
      .slice(at, at + readAtOnce)
      .map((budget) => readSummary(budget, readSpent, nowMs).catch(withoutFigures))
    found.push(...(await Promise.all(reads)))
  }
  return found
}

function withoutFigures(error: unknown): undefined {
  if (!isFault(error)) throw error
  return undefined
}

async function readSummary(budget: Budget, readSpent: ReadSpent, nowMs: number): Promise<BudgetSummary> {
  const period = periodAt(budget, nowMs)
  const spent = await readMembers(budget, readSpent, { period, nowMs })
  const [first, ...others] = spent
  const highest = first && others.reduce((before, each) => (byShare(each, before) < 0 ? each : before), first)
  const least = (amountAt(budget, period.startMs, nowMs) * Math.min(...budget.warnAt)) / 100
  return {
    period,
    members: spent.filter((each) => each.spent > 0).length,
    near: spent.filter((each) => each.spent >= least).length,
    highest: highest && statusOf(budget, { period, nowMs })(highest),
  }
}

type At = { readonly period: PeriodRange; readonly nowMs: number }

/** If all requests share the amount, there is always one member. */
async function readMembers(
  budget: Budget,
  readSpent: ReadSpent,
  { period: { startMs }, nowMs }: At,
): Promise<readonly MemberSpent[]> {
  const found = await readSpent(budget, { startMs, nowMs })
  return budget.per === 'all' && found.length === 0 ? [{ member: null, spent: 0 }] : found
}

/** All members have the same amount. */
const byShare = (a: MemberSpent, b: MemberSpent): number =>
  b.spent - a.spent || String(a.member).localeCompare(String(b.member))

function statusOf(budget: Budget, { period, nowMs }: At): (member: MemberSpent) => BudgetMemberStatus {
  const amount = amountAt(budget, period.startMs, nowMs)
  return (each) => ({
    ...each,
    amount,
    left: Math.max(0, amount - each.spent),
    percent: Math.floor((each.spent / amount) * 10_000) / 100,
    forecast: forecastOf(each.spent, period, nowMs),
  })
}

function forecastOf(spent: number, { startMs, endMs }: PeriodRange, nowMs: number): number | null {
  if (endMs === null || nowMs - startMs < hourMs) return null
  return Math.round((spent * (endMs - startMs)) / (nowMs - startMs))
}
