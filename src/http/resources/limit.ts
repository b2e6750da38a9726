import type { FastifyReply } from 'fastify'
import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import { QueueFull, type FairSemaphore } from '../../base/fair-semaphore.ts'
import { Fault } from '../../base/fault.ts'
import { retryIn } from '../../base/plural.ts'
import { HttpFault } from '../fault-headers.ts'
import type { createAdministrationLimits, OverLimit } from '../../domain/identity/administration-limits.ts'

export type ResourceLimitParts = {
  readonly limits: ReturnType<typeof createAdministrationLimits>
  readonly clock: Clock
  /** Reports that run at once, by organization. */
  readonly reports: FairSemaphore
}

type AdmissionParts = Pick<ResourceLimitParts, 'limits' | 'clock'>

type LimitedActor = { readonly kind: string; readonly id: string; readonly organization: { readonly id: string } }

/** Admits one request. Dispose the result when the request has ended. */
export function admitRequest({ limits, clock }: AdmissionParts, actor: LimitedActor): Disposable {
  const { kind, id, organization } = actor
  const isConsole = kind === 'console' || kind === 'member'
  const admission = limits.admit({ credential: id, organization: organization.id, isConsole })
  if ('admitted' in admission) return admission.admitted
  throw overLimit(admission.rejected, clock)
}

/** Admits one request that ends when its response is closed, for a response that is sent after its handler has returned. */
export function admitUntilClose(parts: AdmissionParts, actor: LimitedActor, { raw }: Pick<FastifyReply, 'raw'>): void {
  const slot = admitRequest(parts, actor)
  // A caller who left during authentication has closed it already, and no event follows.
  if (raw.destroyed) slot[Symbol.dispose]()
  else raw.once('close', () => slot[Symbol.dispose]())
}

/**
 * Waits until a report of the organization may run, so that one organization does not take all connections of reports. Dispose the
 * result when the report has ended.
 */
export async function admitReport(
  { reports }: Pick<ResourceLimitParts, 'reports'>,
  { organization }: LimitedActor,
  { raw }: Pick<FastifyReply, 'raw'>,
): Promise<Disposable> {
  const waiting = new AbortController()
  const onClose = (): void => waiting.abort(new Error('the caller disconnected'))
  raw.once('close', onClose)
  try {
    return await reports.acquire(organization.id, waiting.signal)
  } catch (error) {
    throw error instanceof QueueFull ? tooManyReports() : error
  } finally {
    raw.off('close', onClose)
  }
}

/** When a report ends is not known, so callers should retry after a fixed time. */
const tooManyReports = (): Fault =>
  new Fault('rate_limit', 'too_many_reports', 'Too many reports of this organization wait for others to end.', {
    retryAfterSeconds: 5,
  })

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
