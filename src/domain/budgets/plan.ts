import { dayMs, hourMs } from '../../base/clock.ts'
import type { Budget } from './budget.ts'
import { periodAt, type PeriodRange } from './period.ts'
import type { HourSpent, ReadHours } from './spent.ts'

/** A member that would have reached the amount in a period. */
export type PlannedStop = {
  readonly period: PeriodRange
  readonly member: string | null
  /** The hour in which the amount was reached. */
  readonly reachedAtMs: number
  /** Requests of the period after the amount was reached. Those of that hour are a share of its requests. */
  readonly requestsAfter: number
}

export type BudgetPlan = {
  readonly fromMs: number
  readonly toMs: number
  /** Those with the most requests first. */
  readonly stops: readonly PlannedStop[]
  readonly hasMore: boolean
  /** Of all of them. */
  readonly requests: number
  readonly members: number
}

const plannedMs = 30 * dayMs
const maxStops = 100

/**
 * Whom a budget would have stopped in the last 30 days, from what was spent each hour. Its extra is left out, because it raises a single
 * period, and a budget for once counts as if it had begun 30 days ago.
 */
export async function planBudget(given: Budget, readHours: ReadHours, nowMs: number): Promise<BudgetPlan> {
  const budget = { ...given, createdAtMs: nowMs - plannedMs }
  const fromMs = Math.floor((nowMs - plannedMs) / hourMs) * hourMs
  const hours = await readHours(budget, { startMs: periodAt(budget, fromMs).startMs, nowMs })
  const stops = stopsIn(hours, { budget, fromMs })
    .map((stop) => ({ ...stop, requestsAfter: Math.round(stop.requestsAfter) }))
    .filter(({ requestsAfter }) => requestsAfter > 0)
    .toSorted((a, b) => b.requestsAfter - a.requestsAfter || a.reachedAtMs - b.reachedAtMs)
  return {
    fromMs,
    toMs: nowMs,
    stops: stops.slice(0, maxStops),
    hasMore: stops.length > maxStops,
    requests: stops.reduce((sum, { requestsAfter }) => sum + requestsAfter, 0),
    members: new Set(stops.map(({ member }) => member)).size,
  }
}

type Spending = { readonly period: PeriodRange; spent: number; reachedAtMs: number | undefined; requestsAfter: number }

type Planned = { readonly budget: Budget; readonly fromMs: number }

/** Requests before `fromMs` only count as spent. */
function stopsIn(hours: readonly HourSpent[], { budget, fromMs }: Planned): PlannedStop[] {
  const spendings = new Map<string, Spending & { readonly member: string | null }>()
  for (const { member, startMs, spent, requests } of hours.toSorted((a, b) => a.startMs - b.startMs)) {
    const period = periodAt(budget, startMs)
    const key = `${period.startMs} ${member ?? ''}`
    const spending = spendings.get(key) ?? { member, period, spent: 0, reachedAtMs: undefined, requestsAfter: 0 }
    spendings.set(key, spending)
    const left = Math.max(0, budget.amount - spending.spent)
    spending.spent += spent
    if (spending.spent <= budget.amount) continue
    spending.reachedAtMs ??= startMs
    if (startMs < fromMs) continue
    spending.requestsAfter += spent === 0 ? requests : (requests * (spent - left)) / spent
  }
  return Array.from(spendings.values(), ({ period, member, reachedAtMs, requestsAfter }) =>
    reachedAtMs === undefined ? [] : [{ period, member, reachedAtMs, requestsAfter }],
  ).flat()
}
