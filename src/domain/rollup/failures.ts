import type { FaultCode } from '../../base/fault.ts'
import type { ChainedEvent } from '../audit/chain/chained-event.ts'

/** Failures of an upstream or of the service. What the caller caused, and rate limits, are not among them. */
export const failureCodes: readonly string[] = [
  'upstream_error',
  'upstream_timeout',
  'upstream_overloaded',
  'upstream_busy',
  'upstream_quota_exhausted',
  'credit_balance_unavailable',
  'audit_unavailable',
  'storage_unavailable',
  'storage_full',
  'storage_locked',
  'storage_rejected',
  'unavailable',
  'internal_error',
] satisfies FaultCode[]

/**
 * Failed requests are counted like decisions, each under a subject of its own: the organization, a project or a key. Nodes of an
 * earlier version fold such entries, which they could not do with a kind that they do not know.
 */
export const failureSubject = subjectsOf('failures')

/** Requests that a rate limit rejected are counted in the same way. */
export const rateLimitSubject = subjectsOf('rate_limited')

function subjectsOf(name: string): (id: string | undefined) => string {
  return (id) => (id === undefined ? name : `${name} ${id}`)
}

/** Whether a request failed because of an upstream or of the service. */
export const isFailure = ({ status, errorCode }: Pick<ChainedEvent, 'status' | 'errorCode'>): boolean =>
  status === 'error' && errorCode !== null && failureCodes.includes(errorCode)

/** Whether a rate limit rejected the request, so that its caller sends too much. */
export const isRateLimited = ({ status, errorCode }: Pick<ChainedEvent, 'status' | 'errorCode'>): boolean =>
  status === 'error' && errorCode === rateLimitCode

const rateLimitCode: FaultCode = 'rate_limit_exceeded'
