import {
  rejectedScopes,
  type AdmissionRequest,
  type LimitSettings,
  type Rejected,
  type AdmissionResult,
} from '../admission.ts'
import { exceededLimits, limitWaitMs, statusOf, type CheckContext, type LimitCheck } from './check.ts'
import { canHold, creditStatus } from './slice.ts'
import { add } from './sliding-window.ts'
import { takeSlot, type Tenant } from './tenant.ts'

/** Who asks, and by which rules. */
export type Parties = {
  readonly tenant: Tenant
  readonly request: AdmissionRequest
  readonly epoch: string
  readonly settings: LimitSettings
}

/** Checks everything, then takes everything. Credits come last, so that a limit never hides behind a bill. */
export function admit(parties: Parties, judged: CheckContext): AdmissionResult {
  const { tenant, request } = parties
  const duplicate = request.mode === 'full' && tenant.holds.has(request.requestId)
  if (!duplicate) {
    const closed = exceededLimits(judged)
    if (closed.length > 0) return refuse(parties, judged, closed)
    if (!canHold(tenant, request)) return refuseForCredits(parties, judged)
    if (request.mode !== 'check') take(parties, judged)
  }
  return { admitted: true, duplicate, ...decisionOf(parties, judged) }
}

/** The attempt is counted before the wait is measured, so that the wait is true for whoever made it. */
function refuse(parties: Parties, judged: CheckContext, closed: readonly LimitCheck[]): Rejected {
  const hardest = closed.reduce((a, b) => (limitWaitMs(judged, b) > limitWaitMs(judged, a) ? b : a))
  const counted = parties.request.mode === 'check' ? 0 : rejectedScopes[parties.settings.countRefused]
  for (const state of judged.states.slice(0, counted)) {
    add(state.rpm, 1)
    add(state.rpd, 1)
  }
  const waitMs = Math.max(...exceededLimits(judged).map((gate) => limitWaitMs(judged, gate)))
  return {
    admitted: false,
    reason: hardest.metric,
    scope: hardest.state.scope,
    retryAfterMs: Number.isFinite(waitMs) ? waitMs : null,
    ...decisionOf(parties, judged),
  }
}

/** Counts nothing: the caller may raise the slice and ask again. If it gives up, it counts the attempt itself. */
const refuseForCredits = (parties: Parties, judged: CheckContext): Rejected => ({
  admitted: false,
  reason: 'credits',
  scope: 'organization',
  retryAfterMs: null,
  ...decisionOf(parties, judged),
})

const decisionOf = (
  parties: Parties,
  judged: CheckContext,
): Pick<AdmissionResult, 'standing' | 'atMs' | 'credits'> => ({
  standing: statusOf(judged),
  atMs: judged.nowMs,
  credits: creditStatus(parties),
})

function take({ tenant, request, settings }: Parties, { states, needs, nowMs }: CheckContext): void {
  for (const state of states) {
    add(state.rpm, needs.rpm)
    add(state.rpd, needs.rpd)
    add(state.tpm, needs.tpm)
    add(state.tpd, needs.tpd)
  }
  if (request.mode === 'count') return
  const { requestId, project, key, tokens, micro } = request
  takeSlot(tenant, requestId, { expiresAtMs: nowMs + settings.leaseMs, states })
  const sliceId = micro === null ? null : (tenant.slice?.sliceId ?? null)
  tenant.holds.set(requestId, {
    project,
    key,
    tokens,
    micro,
    sliceId,
    admittedAtMs: nowMs,
    deadlineMs: nowMs + settings.holdMs,
    isNoted: false,
  })
  if (tenant.slice !== null && micro !== null) tenant.slice.leftMicro -= micro
}
