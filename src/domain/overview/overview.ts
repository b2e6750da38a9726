import { dayMs, toUnixSeconds } from '../../base/clock.ts'
import { inUsd } from '../credits/formatting.ts'
import { remainingMicro, type Balance } from '../credits/ledger-store.ts'
import type { LedgerReports } from '../credits/reports.ts'
import { percentile, type TrafficStore } from '../traffic/traffic.ts'

/** The figures of the last minute. */
export type TrafficNow = {
  readonly requestsPerSecond: number
  readonly deniedShare: number
  readonly errorShare: number
  readonly p95Ms: number | null
}

const minute = 60

/** From the start of the last full minute until now, because the sums have whole minutes. */
export async function readTrafficNow(
  traffic: TrafficStore,
  organizationId: string,
  nowMs: number,
): Promise<TrafficNow> {
  const now = toUnixSeconds(nowMs)
  const from = (Math.floor(now / minute) - 1) * minute
  const sums = await traffic.sums({ organizationId, from, to: now + 1, step: minute, groupBy: undefined })
  const total = (pick: (sum: (typeof sums)[number]) => number): number =>
    sums.reduce((sum, each) => sum + pick(each), 0)
  const requests = total((sum) => sum.requests)
  const latency = sums.reduce<number[]>((all, sum) => sum.latency.map((count, at) => count + (all[at] ?? 0)), [])
  return {
    requestsPerSecond: requests / Math.max(1, now - from),
    deniedShare: requests === 0 ? 0 : total((sum) => sum.denied) / requests,
    errorShare: requests === 0 ? 0 : total((sum) => sum.errors) / requests,
    p95Ms: percentile(latency, 0.95),
  }
}

/** What was spent in dollars, and for how many days the balance lasts at the rate of the last week. */
export type Spend = {
  readonly todayUsd: number
  readonly monthUsd: number
  readonly balanceUsd: number | null
  readonly daysLeft: number | null
}

type SpendParts = {
  readonly ledger: Pick<LedgerReports, 'usage'>
  /** Undefined if the organization is not metered. */
  readonly balance: Balance | undefined
  readonly creditUsd: number
  readonly nowMs: number
}

export async function readSpend(
  organizationId: string,
  { ledger, balance, creditUsd, nowMs }: SpendParts,
): Promise<Spend> {
  const now = new Date(nowMs)
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
  const weekAgo = today - 7 * dayMs
  const fromMs = Math.min(month, weekAgo)
  const days = await ledger.usage({ organizationId, fromMs, toMs: nowMs, bucketMs: dayMs, groupBy: [] })
  const since = (ms: number): number =>
    days.filter(({ startMs }) => startMs >= ms).reduce((sum, { micro }) => sum + micro, 0)
  const perDay = since(weekAgo) / ((nowMs - weekAgo) / dayMs)
  const remaining = balance && remainingMicro(balance)
  return {
    todayUsd: inUsd(since(today), creditUsd),
    monthUsd: inUsd(since(month), creditUsd),
    balanceUsd: remaining === undefined ? null : inUsd(remaining, creditUsd),
    daysLeft: remaining === undefined || perDay === 0 ? null : Math.max(0, remaining) / perDay,
  }
}
