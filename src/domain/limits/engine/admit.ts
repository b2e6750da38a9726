import {
  rejectedScopes,
  type AdmissionRequest,
  type LimitSettings,
  type Rejected,
  type AdmissionResult,
} from '../admission.ts'
import { exceededLimits, limitWaitMs, statusOf, type CheckContext, type LimitCheck } from './check.ts'
import { canHold, creditStatus } from './slice.ts'
import { add, takeBack } from './sliding-window.ts'
import { freeSlot, takeSlot, type CreditHold, type Tenant } from './tenant.ts'

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
  const known = request.mode === 'full' ? tenant.holds.get(request.requestId) : undefined
  if (known !== undefined) return admitKnown(parts, context, known)
  const exceeded = exceededLimits(context)
  if (exceeded.length > 0) return reject(parts, context, exceeded)
  if (!canHold(tenant, request)) return rejectForCredits(parts, context)
  if (request.mode !== 'check') take(parts, context)
  return { admitted: true, duplicate: false, ...decisionOf(parts, context) }
}

/**
 * A repeated request, or one that a node contributed before it was admitted here. A contribution counts requests and tokens
 * and holds no credits, so they are held now.
 */
function admitKnown(parts: AdmitContext, context: CheckContext, hold: CreditHold): AdmissionResult {
  const { tenant, request } = parts
  if (request.mode === 'full' && request.micro !== null && hold.sliceId === null) {
    if (!canHold(tenant, request)) {
      release(tenant, request.requestId, context)
      return rejectForCredits(parts, context)
    }
    tenant.holds.set(request.requestId, { ...hold, micro: request.micro, sliceId: tenant.slice?.sliceId ?? null })
    if (tenant.slice !== null) tenant.slice.leftMicro -= request.micro
  }
  return { admitted: true, duplicate: true, ...decisionOf(parts, context) }
}

/** Frees the slot and the tokens. The request itself stays counted as an attempt. */
function release(tenant: Tenant, requestId: string, { states }: CheckContext): void {
  const hold = tenant.holds.get(requestId)
  if (hold === undefined) return
  freeSlot(tenant, requestId)
  tenant.holds.delete(requestId)
  for (const { tpm, tpd } of states) {
    takeBack(tpm, hold.admittedAtMs, hold.tokens)
    takeBack(tpd, hold.admittedAtMs, hold.tokens)
  }
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
