import { dayMs } from '../../base/clock.ts'
import { rowOf } from '../audit/chain/chained-event.ts'
import type { Check } from '../audit/event/verdict.ts'
import type { LoggedEvent } from '../audit/log.ts'
import { decidingOf } from '../explanation/recorded-facts.ts'
import { decisionIn, directionOf } from '../explanation/recorded-outcomes.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'

/** How long a decision can be appealed, and an appeal stays open. */
export const appealMs = 30 * dayMs

/** The decision on a request, as far as an appeal is about it. */
export type DecidedRequest = {
  readonly eventId: string
  readonly requestId: string | null
  readonly projectId: string | null
  readonly decidedAtMs: number
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly check: Check | null
  /** Null if the request was rejected before the checks. */
  readonly direction: TextDirection | null
  /** Whether every check allowed the request. */
  readonly isAllowed: boolean
}

/** Undefined for an event that is not of a request. */
export function decidedRequestOf({ document }: LoggedEvent): DecidedRequest | undefined {
  const { id, code, requestId, projectId, timeMs } = rowOf(document, '')
  if (code !== 'gateway.request.decided') return undefined
  const deciding = decidingOf(document, { policies: new Map(), gateway: undefined })
  const isByPolicy = deciding?.check === 'policy'
  return {
    eventId: id,
    requestId,
    projectId,
    decidedAtMs: timeMs,
    policyId: isByPolicy ? deciding.policy.id : null,
    policyVersion: isByPolicy ? deciding.policy.version : null,
    check: deciding?.check ?? null,
    direction: directionOf(document),
    isAllowed: decisionIn(document.unmapped.gatehouse['decision']) === 'allow',
  }
}

/** Why a caller cannot appeal a decision; undefined if it can. */
export function appealProblem(
  { direction, isAllowed, decidedAtMs }: DecidedRequest,
  nowMs: number,
): string | undefined {
  if (direction === null) return 'The request was rejected before the checks, so there is no decision of a rule.'
  if (isAllowed) return 'Every check allowed the request.'
  if (nowMs >= decidedAtMs + appealMs) return 'The decision is older than 30 days.'
  return undefined
}
