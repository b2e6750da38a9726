import type { Clock } from '../../base/clock.ts'

const failuresToCooldown = 3
const cooldownMs = 15_000
/** An account that is out of quota stays so until its operator acts. */
const exhaustedCooldownMs = 60_000
/** How many calls the 95th percentile covers. */
const measuredCalls = 200

/** A circuit breaker per upstream: three failures in a row open it for a cooldown. After that, one failure opens it again. */
export type UpstreamHealth = {
  isCoolingDown(upstream: string): boolean
  /** `tookMs` is the time until the answer began. */
  succeeded(upstream: string, tookMs?: number): void
  /**
   * An account that is out of quota begins its cooldown with the first failure. An upstream that is busy with the gateway's
   * own calls works, so it needs none.
   */
  failed(upstream: string, code?: string): void
  conditionOf(upstream: string): UpstreamCondition
}

/** What this process saw of an upstream since it started. */
export type UpstreamCondition = {
  /** Failures since the last success. */
  readonly failures: number
  /** 0 if the upstream is not in cooldown. */
  readonly cooldownLeftMs: number
  readonly lastSuccessAtMs: number | null
  readonly lastError: { readonly code: string; readonly atMs: number } | null
  /** Of the last calls that succeeded; null before the first one. */
  readonly p95Ms: number | null
}

type Seen = {
  failures: number
  cooldownUntilMs: number
  lastSuccessAtMs: number | null
  lastError: UpstreamCondition['lastError']
  readonly tookMs: number[]
  /** Where the next time is written. */
  next: number
}

export function createUpstreamHealth(clock: Clock): UpstreamHealth {
  const states = new Map<string, Seen>()
  const stateOf = (upstream: string): Seen => {
    const known = states.get(upstream)
    if (known !== undefined) return known
    const seen: Seen = { failures: 0, cooldownUntilMs: 0, lastSuccessAtMs: null, lastError: null, tookMs: [], next: 0 }
    states.set(upstream, seen)
    return seen
  }
  return {
    isCoolingDown: (upstream) => (states.get(upstream)?.cooldownUntilMs ?? 0) > clock.monotonicMs(),
    succeeded(upstream, tookMs) {
      const state = stateOf(upstream)
      state.failures = 0
      state.cooldownUntilMs = 0
      state.lastSuccessAtMs = clock.nowMs()
      if (tookMs === undefined) return
      state.tookMs[state.next] = tookMs
      state.next = (state.next + 1) % measuredCalls
    },
    failed(upstream, code = 'upstream_error') {
      const state = stateOf(upstream)
      state.lastError = { code, atMs: clock.nowMs() }
      if (code === 'upstream_busy') return
      const isExhausted = code === 'upstream_quota_exhausted'
      state.failures = isExhausted ? Math.max(failuresToCooldown, state.failures + 1) : state.failures + 1
      if (state.failures < failuresToCooldown) return
      state.cooldownUntilMs = clock.monotonicMs() + (isExhausted ? exhaustedCooldownMs : cooldownMs)
    },
    conditionOf(upstream) {
      const seen = states.get(upstream)
      return {
        failures: seen?.failures ?? 0,
        cooldownLeftMs: Math.max(0, (seen?.cooldownUntilMs ?? 0) - clock.monotonicMs()),
        lastSuccessAtMs: seen?.lastSuccessAtMs ?? null,
        lastError: seen?.lastError ?? null,
        p95Ms: p95Of(seen?.tookMs ?? []),
      }
    },
  }
}

function p95Of(tookMs: readonly number[]): number | null {
  const sorted = tookMs.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null
}
