import type { BudgetUse } from '../budget-counters.ts'
import type { SliceId } from '../admission.ts'
import type { PerScope, LimitScope, WindowMetric } from '../scopes.ts'
import { createDayWindow, createMinuteWindow, slide, type SlidingWindow } from './sliding-window.ts'

/** The counters of one scope. */
export type ScopeState = Readonly<Record<WindowMetric, SlidingWindow>> & {
  readonly scope: LimitScope
  readonly id: string
  readonly tenant: Tenant
  inFlight: number
  usedAtMs: number
}

/** In the order of `limitScopes`. */
export type ScopeStates = readonly [key: ScopeState, project: ScopeState, organization: ScopeState]

/** A concurrency slot of a running request. */
export type SlotLease = { readonly expiresAtMs: number; readonly states: ScopeStates }

export type CreditHold = {
  readonly project: string
  readonly key: string
  readonly tokens: number
  readonly micro: number | null
  readonly sliceId: string | null
  readonly admittedAtMs: number
  readonly deadlineMs: number
  readonly budgets?: readonly BudgetHold[] | undefined
  /** Another store admitted the request and holds its credits; here it is only counted. */
  isForeign: boolean
}

export type LocalSlice = SliceId & { amountMicro: number; leftMicro: number }

export type BudgetCounter = {
  /** The token of the count that made it. A hold of an earlier counter of the same name is not one of this counter. */
  readonly generation: number
  /** By the ledger, when the counter was opened. */
  base: number
  /** Settled here since. */
  settled: number
  held: number
  /** Settled since the count began; undefined if none is going on. */
  sinceBegin: number | undefined
  token: number
  /** The version of the tenant's budgets, and the phase of the budget, when the last count began, and when the counter was opened. */
  beganIn: number
  openedIn: number | undefined
  openedAtMs: number
  readonly expiresAtMs: number
}

export type BudgetHold = BudgetUse & { readonly generation: number }

/** The counters of one organization. */
export type TenantBudgets = {
  /** Counters that were opened in an earlier version are not open now. */
  version: number
  readonly counters: Map<string, BudgetCounter>
}

/** The engine's state of one organization. */
export type Tenant = {
  readonly organization: string
  clockMs: number
  clockOffsetMs: number
  readonly states: PerScope<Map<string, ScopeState>>
  /** In order of expiry, because every lease has the same length and the clock never goes back. */
  readonly leases: Map<string, SlotLease>
  readonly holds: Map<string, CreditHold>
  slice: LocalSlice | null
  readonly budgets: TenantBudgets
}

export const createTenant = (organization: string): Tenant => ({
  organization,
  clockMs: 0,
  clockOffsetMs: 0,
  states: { key: new Map(), project: new Map(), organization: new Map() },
  leases: new Map(),
  holds: new Map(),
  slice: null,
  budgets: { version: 0, counters: new Map() },
})

export const createScopeState = (tenant: Tenant, scope: LimitScope, id: string): ScopeState => ({
  scope,
  id,
  tenant,
  rpm: createMinuteWindow(),
  rpd: createDayWindow(),
  tpm: createMinuteWindow(),
  tpd: createDayWindow(),
  inFlight: 0,
  usedAtMs: -Infinity,
})

export function slideAll(state: ScopeState, nowMs: number): void {
  slide(state.rpm, nowMs)
  slide(state.rpd, nowMs)
  slide(state.tpm, nowMs)
  slide(state.tpd, nowMs)
}

/** A clock that steps back further than this was wrong before; the organization's clock does not wait for it. */
const maxStandstillMs = 60_000

/** The time of the organization's clock at `timeMs`. */
export const tenantTime = (tenant: Tenant, timeMs: number): number =>
  Math.max(tenant.clockMs, timeMs + tenant.clockOffsetMs)

/**
 * Advances the organization's own clock. It never goes back, and the three scopes share it; otherwise a step back of the
 * system clock would let their windows drift apart. After a small step back it stands still. After a large one it continues
 * from where it was, so that no caller waits for a day that a wrong clock had skipped.
 */
export function advanceClock(tenant: Tenant, timeMs: number): number {
  const behindMs = tenant.clockMs - (timeMs + tenant.clockOffsetMs)
  if (behindMs > maxStandstillMs) tenant.clockOffsetMs += behindMs
  tenant.clockMs = tenantTime(tenant, timeMs)
  return tenant.clockMs
}

export function takeSlot(tenant: Tenant, requestId: string, lease: SlotLease): void {
  tenant.leases.set(requestId, lease)
  for (const state of lease.states) state.inFlight++
}

export function freeSlot(tenant: Tenant, requestId: string): void {
  const lease = tenant.leases.get(requestId)
  if (lease === undefined) return
  tenant.leases.delete(requestId)
  for (const state of lease.states) state.inFlight--
}

export function freeExpiredSlots(tenant: Tenant, nowMs: number): void {
  for (const [requestId, lease] of tenant.leases) {
    if (lease.expiresAtMs > nowMs) return
    freeSlot(tenant, requestId)
  }
}

/** Time until `count` slots of this scope have expired. */
export function slotWaitMs(state: ScopeState, count: number, nowMs: number): number {
  let left = count
  for (const lease of state.tenant.leases.values()) {
    if (lease.states.includes(state) && --left === 0) return lease.expiresAtMs - nowMs
  }
  return Infinity
}
