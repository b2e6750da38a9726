import { dayMs, toUnixSeconds } from '../../base/clock.ts'
import type { WatchedSink } from '../audit/export/export-sink.ts'
import { inUsd } from '../credits/formatting.ts'
import { remainingMicro, type Balance } from '../credits/ledger-store.ts'
import type { LedgerReports } from '../credits/reports.ts'
import type { PolicySummary } from '../policy/policy.ts'
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
  traffic: Pick<TrafficStore, 'sums'>,
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

export type AttentionSeverity = 'info' | 'warning' | 'error'

/** Something that needs a person. */
export type AttentionItem = {
  readonly kind: 'policy_paused' | 'sink_failing' | 'dead_letters' | 'credit_low'
  readonly severity: AttentionSeverity
  /** One sentence without a full stop. */
  readonly text: string
  /** The object that it is about. */
  readonly objectId: string | null
  readonly sinceMs: number | null
}

type AttentionFacts = {
  readonly pausedPolicies: readonly PolicySummary[]
  readonly sinks: readonly WatchedSink[]
  readonly spend: Spend
}

const fewDays = 3

/** What needs a person, the worst first. */
export function attentionOf({ pausedPolicies, sinks, spend }: AttentionFacts): AttentionItem[] {
  const items: AttentionItem[] = [
    ...sinks.flatMap(sinkItems),
    ...creditItems(spend),
    ...pausedPolicies.map(({ id, name, updatedAtMs }): AttentionItem => ({
      kind: 'policy_paused',
      severity: 'warning',
      text: `The policy ${name} is paused`,
      objectId: id,
      sinceMs: updatedAtMs,
    })),
  ]
  return items.sort((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
}

const severities: readonly AttentionSeverity[] = ['error', 'warning', 'info']

function sinkItems({ id, label, health }: WatchedSink): AttentionItem[] {
  const { state, lastError, lastErrorAtMs, deadLetters } = health
  const isFailing = state !== 'healthy' && state !== 'disabled'
  const needsPerson = state === 'auth_error' || state === 'config_error'
  const failing: AttentionItem = {
    kind: 'sink_failing',
    severity: needsPerson ? 'error' : 'warning',
    text: `The export ${label} is failing${lastError === null ? '' : `: ${lastError}`}`,
    objectId: id,
    sinceMs: lastErrorAtMs,
  }
  const dead: AttentionItem = {
    kind: 'dead_letters',
    severity: 'warning',
    text: `The export ${label} has ${deadLetters} events that its destination rejected`,
    objectId: id,
    sinceMs: null,
  }
  return [...(isFailing ? [failing] : []), ...(deadLetters > 0 ? [dead] : [])]
}

function creditItems({ daysLeft, balanceUsd }: Spend): AttentionItem[] {
  if (balanceUsd === 0)
    return [{ kind: 'credit_low', severity: 'error', text: 'There is no credit left', objectId: null, sinceMs: null }]
  if (daysLeft === null || daysLeft >= fewDays) return []
  const text = `The credit lasts for ${daysLeft.toFixed(1)} days`
  return [{ kind: 'credit_low', severity: 'warning', text, objectId: null, sinceMs: null }]
}
