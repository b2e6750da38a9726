import type { FastifyReply } from 'fastify'
import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import { retryIn } from '../../base/plural.ts'
import { HttpFault } from '../fault-headers.ts'
import type { createAdministrationLimits, OverLimit } from '../../domain/identity/administration-limits.ts'

export type ResourceLimitParts = {
  readonly limits: ReturnType<typeof createAdministrationLimits>
  readonly clock: Clock
}

type LimitedActor = { readonly kind: string; readonly id: string; readonly organization: { readonly id: string } }

/** Admits one request. Dispose the result when the request has ended. */
export function admitRequest({ limits, clock }: ResourceLimitParts, actor: LimitedActor): Disposable {
  const { kind, id, organization } = actor
  const isConsole = kind === 'console' || kind === 'member'
  const admission = limits.admit({ credential: id, organization: organization.id, isConsole })
  if ('admitted' in admission) return admission.admitted
  throw overLimit(admission.rejected, clock)
}

/** Admits one request that ends when its response is closed, for a response that is sent after its handler has returned. */
export function admitUntilClose(
  parts: ResourceLimitParts,
  actor: LimitedActor,
  { raw }: Pick<FastifyReply, 'raw'>,
): void {
  const slot = admitRequest(parts, actor)
  // A caller who left during authentication has closed it already, and no event follows.
  if (raw.destroyed) slot[Symbol.dispose]()
  else raw.once('close', () => slot[Symbol.dispose]())
}

const metricNames = { requests: 'requests per minute', concurrent_requests: 'concurrent requests' } as const

/** The headers name the limit that was exceeded. */
function overLimit({ scope, metric, limit, waitMs }: OverLimit, clock: Clock): Fault {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  const message = `This ${scope} may make ${limit} ${metricNames[metric]}. ${retryIn(retryAfterSeconds)}`
  const details = { retryAfterSeconds }
  return new HttpFault(
    { kind: 'rate_limit', code: 'rate_limit_exceeded', message, details },
    {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(toUnixSeconds(clock.nowMs()) + retryAfterSeconds),
      'x-ratelimit-scope': scope,
      'x-ratelimit-metric': metric,
    },
  )
}
