import {
  rejectedScopes,
  type AdmissionRequest,
  type LimitSettings,
  type Rejected,
  type AdmissionResult,
} from '../admission.ts'
import type { BudgetRejection } from '../budget-counters.ts'
import { holdBudgets, rejectingBudget, settleBudgets } from './budgets.ts'
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
  const hold = request.mode === 'full' ? tenant.holds.get(request.requestId) : undefined
  if (request.mode === 'full' && hold !== undefined) return admitKnown(parts, context, { request, hold })
  const exceeded = exceededLimits(context)
  if (exceeded.length > 0) return reject(parts, context, exceeded)
  const budget = rejectingBudget(tenant, request)
  if (budget !== undefined) return rejectForBudget(parts, context, budget)
  if (!canHold(tenant, request)) return rejectForCredits(parts, context)
  if (request.mode !== 'check') take(parts, context)
  return { admitted: true, duplicate: false, ...decisionOf(parts, context) }
}

/**
 * A repeated request, or one that a node contributed before it was admitted here. A contribution counts requests and tokens
 * and holds no credits and nothing of budgets, so they are held now.
 */
function admitKnown(parts: AdmitContext, context: CheckContext, { request, hold }: KnownRequest): AdmissionResult {
  const { tenant } = parts
  const lacksCredits = request.micro !== null && hold.sliceId === null
  const lacksBudgets = request.budgets !== undefined && hold.budgets === undefined
  const budget = lacksBudgets ? rejectingBudget(tenant, request) : undefined
  if (budget !== undefined || (lacksCredits && !canHold(tenant, request))) {
    release(tenant, request.requestId, context)
    return budget === undefined ? rejectForCredits(parts, context) : rejectForBudget(parts, context, budget)
  }
  if (lacksCredits || lacksBudgets) {
    const credits = lacksCredits ? { micro: request.micro, sliceId: tenant.slice?.sliceId ?? null } : {}
    const budgets = lacksBudgets ? holdBudgets(tenant, request) : hold.budgets
    tenant.holds.set(request.requestId, { ...hold, ...credits, budgets })
    if (lacksCredits && tenant.slice !== null) tenant.slice.leftMicro -= request.micro ?? 0
  }
  return { admitted: true, duplicate: true, ...decisionOf(parts, context) }
}

type KnownRequest = { readonly request: Extract<AdmissionRequest, { mode: 'full' }>; readonly hold: CreditHold }

/** Frees the slot and the tokens. The request itself stays counted as an attempt. */
function release(tenant: Tenant, requestId: string, { states }: CheckContext): void {
  const hold = tenant.holds.get(requestId)
  if (hold === undefined) return
  freeSlot(tenant, requestId)
  tenant.holds.delete(requestId)
  settleBudgets(tenant, hold.budgets ?? [], { budgets: [] })
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

/** Counts nothing either: the caller may open the counter and try again. */
const rejectForBudget = (
  parts: AdmitContext,
  context: CheckContext,
  budget: Omit<BudgetRejection, 'epoch'>,
): Rejected => ({
  admitted: false,
  reason: 'budget',
  scope: 'organization',
  retryAfterMs: null,
  budget: { ...budget, epoch: parts.epoch },
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
    budgets: holdBudgets(tenant, request),
    isForeign: false,
  })
  if (tenant.slice !== null && micro !== null) tenant.slice.leftMicro -= micro
}
