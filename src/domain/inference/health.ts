import type { Clock } from '../../base/clock.ts'

const failuresToCooldown = 3
const cooldownMs = 15_000
/** An account that is out of quota stays so until its operator acts. */
const exhaustedCooldownMs = 60_000

/** A circuit breaker per upstream: three failures in a row open it for a cooldown. After that, one failure opens it again. */
export type UpstreamHealth = {
  isCoolingDown(upstream: string): boolean
  succeeded(upstream: string): void
  failed(upstream: string): void
  /** The account at this upstream is out of quota: the cooldown begins with the first failure. */
  exhausted(upstream: string): void
}

export function createUpstreamHealth(clock: Clock): UpstreamHealth {
  const states = new Map<string, { failures: number; cooldownUntilMs: number }>()
  return {
    isCoolingDown: (upstream) => (states.get(upstream)?.cooldownUntilMs ?? 0) > clock.monotonicMs(),
    succeeded: (upstream) => void states.delete(upstream),
    failed(upstream) {
      const failures = (states.get(upstream)?.failures ?? 0) + 1
      const cooldownUntilMs = failures >= failuresToCooldown ? clock.monotonicMs() + cooldownMs : 0
      states.set(upstream, { failures, cooldownUntilMs })
    },
    exhausted(upstream) {
      const cooldownUntilMs = clock.monotonicMs() + exhaustedCooldownMs
      states.set(upstream, { failures: failuresToCooldown, cooldownUntilMs })
    },
  }
}
