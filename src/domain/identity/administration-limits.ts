import type { Clock } from '../../base/clock.ts'

const windowMs = 60_000

export type ScopeLimit = { readonly requestsPerMinute: number; readonly concurrentRequests: number }

/** The caller in the two scopes that are counted. */
export type AdministrationScopes = { readonly credential: string; readonly organization: string }

type AdministrationCaller = AdministrationScopes & { readonly isConsole?: boolean }

export type AdministrationLimit = Readonly<Record<keyof AdministrationScopes, ScopeLimit>> & {
  /** Replaces the limit of the credential for sessions of the console. */
  readonly console?: ScopeLimit
}

/** Why a request is rejected. */
export type OverLimit = {
  readonly scope: keyof AdministrationScopes
  readonly metric: 'requests' | 'concurrent_requests'
  readonly limit: number
  readonly waitMs: number
}

/** The request ends when `admitted` is disposed. */
export type AdministrationAdmission = { readonly admitted: Disposable } | { readonly rejected: OverLimit }

/** Start times of requests, oldest first, and the number of requests in flight. */
type Usage = { readonly startsMs: number[]; running: number }

/** The end of a request in flight is not known, so callers should retry after a fixed time. */
const concurrencyWaitMs = 1_000

/**
 * Limits of the administration API, in memory and exact: no 60-second window has more starts than allowed. A request
 * counts in both scopes or in none, so that a rejected request uses nothing and `waitMs` is exact.
 */
export function createAdministrationLimits(clock: Clock, limits: AdministrationLimit) {
  const usages = new Map<string, Usage>()
  let sweptAtMs = clock.monotonicMs()

  const usageOf = (id: string): Usage => {
    const known = usages.get(id) ?? { startsMs: [], running: 0 }
    usages.set(id, known)
    dropExpired(known, clock.monotonicMs())
    return known
  }

  return {
    /** The sessions of a credential are counted apart from its own requests, so that neither holds up the other. */
    admit({ credential, organization, isConsole = false }: AdministrationCaller): AdministrationAdmission {
      const nowMs = clock.monotonicMs()
      if (nowMs - sweptAtMs >= windowMs) sweep(nowMs)
      const credentialLimit = (isConsole && limits.console) || limits.credential
      const used = [
        {
          scope: 'credential' as const,
          usage: usageOf(isConsole ? `console ${credential}` : credential),
          limit: credentialLimit,
        },
        { scope: 'organization' as const, usage: usageOf(organization), limit: limits.organization },
      ]
      const over = used.flatMap(({ scope, usage, limit }) => exceeded(scope, usage, { limit, nowMs }))
      const [longest] = over.toSorted((left, right) => right.waitMs - left.waitMs)
      if (longest) return { rejected: longest }
      for (const { usage } of used) {
        usage.startsMs.push(nowMs)
        usage.running++
      }
      return { admitted: { [Symbol.dispose]: () => used.forEach(({ usage }) => usage.running--) } }
    },
  }

  /** Removes callers without requests in the last minute. */
  function sweep(nowMs: number): void {
    sweptAtMs = nowMs
    for (const [id, usage] of usages) {
      dropExpired(usage, nowMs)
      if (usage.startsMs.length === 0 && usage.running === 0) usages.delete(id)
    }
  }
}

function dropExpired({ startsMs }: Usage, nowMs: number): void {
  const kept = startsMs.findIndex((startMs) => startMs > nowMs - windowMs)
  startsMs.splice(0, kept === -1 ? startsMs.length : kept)
}

type Moment = { readonly limit: ScopeLimit; readonly nowMs: number }

function exceeded(scope: OverLimit['scope'], usage: Usage, { limit, nowMs }: Moment): OverLimit[] {
  const { requestsPerMinute, concurrentRequests } = limit
  const oldestCounted = usage.startsMs.at(-requestsPerMinute)
  const isFull = usage.startsMs.length >= requestsPerMinute && oldestCounted !== undefined
  return [
    ...(isFull
      ? [{ scope, metric: 'requests', limit: requestsPerMinute, waitMs: oldestCounted + windowMs - nowMs } as const]
      : []),
    ...(usage.running >= concurrentRequests
      ? [{ scope, metric: 'concurrent_requests', limit: concurrentRequests, waitMs: concurrencyWaitMs } as const]
      : []),
  ]
}
