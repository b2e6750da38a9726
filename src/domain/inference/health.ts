import type { Clock } from '../../base/clock.ts'

const failuresToCooldown = 3
const cooldownMs = 15_000

/** Which upstreams are worth a call. One that failed three times in a row rests, then one call tries it again. */
export type UpstreamHealth = {
  isResting(upstream: string): boolean
  succeeded(upstream: string): void
  failed(upstream: string): void
}

export function createUpstreamHealth(clock: Clock): UpstreamHealth {
  const states = new Map<string, { failures: number; restUntilMs: number }>()
  return {
    isResting: (upstream) => (states.get(upstream)?.restUntilMs ?? 0) > clock.monotonicMs(),
    succeeded: (upstream) => void states.delete(upstream),
    failed(upstream) {
      const failures = (states.get(upstream)?.failures ?? 0) + 1
      const restUntilMs = failures >= failuresToCooldown ? clock.monotonicMs() + cooldownMs : 0
      states.set(upstream, { failures, restUntilMs })
    },
  }
}
