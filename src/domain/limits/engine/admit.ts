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

/** The request, and the state and settings that it is checked against. */
export type AdmitContext = {
  readonly tenant: Tenant
  readonly request: AdmissionRequest
  readonly epoch: string
  readonly settings: LimitSettings
}

/** Checks everything, then takes everything. Credits are checked last, so that a request over a limit is reported as that. */
export function admit(parts: AdmitContext, context: CheckContext): AdmissionResult {
  const { tenant, request } = parts
  const duplicate = request.mode === 'full' && tenant.holds.has(request.requestId)
  if (!duplicate) {
    const exceeded = exceededLimits(context)
    if (exceeded.length > 0) return reject(parts, context, exceeded)
    if (!canHold(tenant, request)) return rejectForCredits(parts, context)
    if (request.mode !== 'check') take(parts, context)
  }
  return { admitted: true, duplicate, ...decisionOf(parts, context) }
}

/** Counts the attempt before it computes the wait, because the attempt itself may lengthen the wait. */
function reject(parts: AdmitContext, context: CheckContext, exceeded: readonly LimitCheck[]): Rejected {
  const strictest = exceeded.reduce((a, b) => (limitWaitMs(context, b) > limitWaitMs(context, a) ? b : a))
  const counted = parts.request.mode === 'check' ? 0 : rejectedScopes[parts.settings.countRejectedIn]
  for (const state of context.states.slice(0, counted)) {
    add(state.rpm, 1)
    add(state.rpd, 1)
  }
  const waitMs = Math.max(...exceededLimits(context).map((check) => limitWaitMs(context, check)))
  return {
    admitted: false,
    reason: strictest.metric,
    scope: strictest.state.scope,
    retryAfterMs: Number.isFinite(waitMs) ? waitMs : null,
    ...decisionOf(parts, context),
  }
}

/** Counts nothing: the caller may top up the slice and try again. If it gives up, it counts the attempt itself. */
const rejectForCredits = (parts: AdmitContext, context: CheckContext): Rejected => ({
  admitted: false,
  reason: 'credits',
  scope: 'organization',
  retryAfterMs: null,
  ...decisionOf(parts, context),
})

const decisionOf = (
  parts: AdmitContext,
  context: CheckContext,
): Pick<AdmissionResult, 'limitStatus' | 'atMs' | 'credits'> => ({
  limitStatus: statusOf(context),
  atMs: context.nowMs,
  credits: creditStatus(parts),
})

function take({ tenant, request, settings }: AdmitContext, { states, needs, nowMs }: CheckContext): void {
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
    isForeign: false,
  })
  if (tenant.slice !== null && micro !== null) tenant.slice.leftMicro -= micro
}
