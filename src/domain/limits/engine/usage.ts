import type { AdmissionRequest, LimitSettings } from '../admission.ts'
import { limitScopes } from '../scopes.ts'
import type { NodeUsage, RunningUsage, ScopeUsage, LimitUsage } from '../usage.ts'
import { settleBudgets } from './budgets.ts'
import { demandsOf } from './check.ts'
import { add, addTo, takeBack, usedSlots } from './sliding-window.ts'
import {
  freeSlot,
  slideAll,
  takeSlot,
  type CreditHold,
  type ScopeState,
  type ScopeStates,
  type Tenant,
} from './tenant.ts'

/** Counts a request that another store has admitted. That store holds its credits. */
export function countAdmitted(
  { tenant, states, settings }: { tenant: Tenant; states: ScopeStates; settings: LimitSettings },
  request: AdmissionRequest,
): void {
  if (request.mode === 'check' || (request.mode === 'full' && tenant.holds.has(request.requestId))) return
  const needs = demandsOf(request)
  for (const state of states) {
    add(state.rpm, needs.rpm)
    add(state.rpd, needs.rpd)
    add(state.tpm, needs.tpm)
    add(state.tpd, needs.tpd)
  }
  if (request.mode !== 'full') return
  holdSlot(tenant, states, { request: { ...request, admittedAtMs: tenant.clockMs }, settings, isNoted: true })
}

/** Undoes an admission that happened just now. */
export function retract(tenant: Tenant, states: ScopeStates, request: AdmissionRequest): void {
  if (request.mode === 'check') return
  const held = request.mode === 'full' ? tenant.holds.get(request.requestId) : undefined
  if (request.mode === 'full' && held === undefined) return
  const atMs = held?.admittedAtMs ?? tenant.clockMs
  const needs = demandsOf(request)
  for (const state of states) {
    takeBack(state.rpm, atMs, needs.rpm)
    takeBack(state.rpd, atMs, needs.rpd)
    takeBack(state.tpm, atMs, needs.tpm)
    takeBack(state.tpd, atMs, needs.tpd)
  }
  if (request.mode !== 'full') return
  freeSlot(tenant, request.requestId)
  tenant.holds.delete(request.requestId)
  settleBudgets(tenant, held?.budgets ?? [], { budgets: [] })
}

/** Everything that is counted for the organization. */
export function usageOf(tenant: Tenant): LimitUsage {
  const used: ScopeUsage[] = []
  for (const scope of limitScopes) {
    for (const state of tenant.states[scope].values()) {
      const use = scopeUsage(state)
      if (use.day.length > 0) used.push(use)
    }
  }
  const running: RunningUsage[] = []
  for (const requestId of tenant.leases.keys()) {
    const held = tenant.holds.get(requestId)
    if (held !== undefined) running.push(runningUsage(requestId, held))
  }
  return { organization: tenant.organization, scopes: used, running }
}

function scopeUsage(state: ScopeState): ScopeUsage {
  slideAll(state, state.tenant.clockMs)
  const { scope, id, rpm, rpd, tpm, tpd } = state
  return { scope, id, minute: usedSlots(rpm, tpm), day: usedSlots(rpd, tpd) }
}

export const nodeUsage = (state: ScopeState): NodeUsage => ({
  ...scopeUsage(state),
  organization: state.tenant.organization,
})

const runningUsage = (requestId: string, { project, key, tokens, admittedAtMs }: CreditHold): RunningUsage => ({
  requestId,
  project,
  key,
  tokens,
  admittedAtMs,
})

/** Adds the counts of another store to the windows of a scope. */
export function addScope(state: ScopeState, { minute, day }: ScopeUsage): void {
  for (const [slot, requests, tokens] of minute) {
    addTo(state.rpm, slot, requests)
    addTo(state.tpm, slot, tokens)
  }
  for (const [slot, requests, tokens] of day) {
    addTo(state.rpd, slot, requests)
    addTo(state.tpd, slot, tokens)
  }
}

/** Takes a slot for a request that another store has admitted. */
export function holdSlot(
  tenant: Tenant,
  states: ScopeStates,
  { request, settings, isNoted }: { request: RunningUsage; settings: LimitSettings; isNoted: boolean },
): void {
  const { requestId, project, key, tokens } = request
  if (tenant.holds.has(requestId)) return
  const admittedAtMs = Math.min(request.admittedAtMs, tenant.clockMs)
  takeSlot(tenant, requestId, { expiresAtMs: tenant.clockMs + settings.leaseMs, states })
  tenant.holds.set(requestId, {
    project,
    key,
    tokens,
    micro: null,
    sliceId: null,
    admittedAtMs,
    deadlineMs: admittedAtMs + settings.holdMs,
    isForeign: isNoted,
  })
}
