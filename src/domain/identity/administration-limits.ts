import type { Clock } from '../../base/clock.ts'

const windowMs = 60_000

export type ScopeLimit = { readonly requestsPerMinute: number; readonly concurrentRequests: number }

/** Who asks, in the two scopes that are counted. */
export type AdministrationScopes = { readonly credential: string; readonly organization: string }

export type AdministrationLimit = Readonly<Record<keyof AdministrationScopes, ScopeLimit>>

/** Why a request may not begin now. */
export type OverLimit = {
  readonly scope: keyof AdministrationScopes
  readonly metric: 'requests' | 'concurrent_requests'
  readonly limit: number
  readonly waitMs: number
}

/** Disposing of it says that the request is over. */
export type AdministrationAdmission = { readonly admitted: Disposable } | { readonly refused: OverLimit }

/** When requests began, oldest first, and how many are under way. */
type Usage = { readonly startsMs: number[]; running: number }

/** Nobody knows when a request under way will end; callers are asked to look again soon. */
const concurrencyWaitMs = 1_000

/**
 * Limits of administration, in memory and exact: in no minute do more requests begin than allowed. A request counts in
 * both scopes or in none, so that one which is refused costs nothing and `waitMs` is true.
 */
export function createAdministrationLimits(clock: Clock, limits: AdministrationLimit) {
  const usages = new Map<string, Usage>()
  let sweptAtMs = clock.monotonicMs()

  const usageOf = (id: string): Usage => {
    const known = usages.get(id) ?? { startsMs: [], running: 0 }
    usages.set(id, known)
    forgetOld(known, clock.monotonicMs())
    return known
  }

  return {
    admit(scopes: AdministrationScopes): AdministrationAdmission {
      const nowMs = clock.monotonicMs()
      if (nowMs - sweptAtMs >= windowMs) sweep(nowMs)
      const used = (['credential', 'organization'] as const).map((scope) => ({ scope, usage: usageOf(scopes[scope]) }))
      const over = used.flatMap(({ scope, usage }) => exceeded(scope, usage, { limit: limits[scope], nowMs }))
      const [longest] = over.toSorted((left, right) => right.waitMs - left.waitMs)
      if (longest) return { refused: longest }
      for (const { usage } of used) {
        usage.startsMs.push(nowMs)
        usage.running++
      }
      return { admitted: { [Symbol.dispose]: () => used.forEach(({ usage }) => usage.running--) } }
    },
  }

  /** Callers who have been quiet for a minute are forgotten. */
  function sweep(nowMs: number): void {
    sweptAtMs = nowMs
    for (const [id, usage] of usages) {
      forgetOld(usage, nowMs)
      if (usage.startsMs.length === 0 && usage.running === 0) usages.delete(id)
    }
  }
}

function forgetOld({ startsMs }: Usage, nowMs: number): void {
  const kept = startsMs.findIndex((startMs) => startMs > nowMs - windowMs)
  startsMs.splice(0, kept === -1 ? startsMs.length : kept)
}

type Moment = { readonly limit: ScopeLimit; readonly nowMs: number }

function exceeded(scope: OverLimit['scope'], usage: Usage, { limit, nowMs }: Moment): OverLimit[] {
  const { requestsPerMinute, concurrentRequests } = limit
  const leavesNext = usage.startsMs.at(-requestsPerMinute)
  const isFull = usage.startsMs.length >= requestsPerMinute && leavesNext !== undefined
  return [
    ...(isFull
      ? [{ scope, metric: 'requests', limit: requestsPerMinute, waitMs: leavesNext + windowMs - nowMs } as const]
      : []),
    ...(usage.running >= concurrentRequests
      ? [{ scope, metric: 'concurrent_requests', limit: concurrentRequests, waitMs: concurrencyWaitMs } as const]
      : []),
  ]
}
