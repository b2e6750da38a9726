import type { Subject } from '../admission.ts'
import type { LimitScope } from '../scopes.ts'
import { createScopeState, createTenant, slideAll, type ScopeState, type ScopeStates, type Tenant } from './tenant.ts'

/** The engine's tenants, bounded: the least recently used scopes are evicted first. */
export type Tenants = {
  find(organization: string): Tenant | undefined
  open(organization: string): Tenant
  /** The three scopes of a request, advanced to the tenant's clock. `timeMs` orders them by last use. */
  statesOf(tenant: Tenant, subject: Subject, timeMs: number): ScopeStates
  /** One scope, advanced in the same way. */
  stateOf(tenant: Tenant, named: { readonly scope: LimitScope; readonly id: string }, timeMs: number): ScopeState
  remove(organization: string): void
  /** At most this many scopes that were used since they were taken last, those that wait longest first. */
  takeChanged(max: number): Iterable<ScopeState>
  organizations(): Iterable<string>
  readonly scopeCount: number
  readonly tenantCount: number
}

export type TenantsOptions = {
  /** Whether changed scopes are tracked for `takeChanged`. */
  readonly tracksChanges: boolean
  /** Beyond this, the least recently used scopes without requests in flight are evicted. */
  readonly maxScopes: number
  /** A scope that was idle for longer than a day window has no counts left. */
  readonly idleMs: number
}

const sweepEveryMs = 60_000
const sweepAtMost = 1_000
/** The resolution of the order of use, so that the hot path does not reorder with every request. */
const orderMs = 1_000

export function createTenants({ maxScopes, idleMs, tracksChanges }: TenantsOptions): Tenants {
  const tenants = new Map<string, Tenant>()
  const byUse = new Set<ScopeState>() // least recently used first
  let changed = new Set<ScopeState>()
  let sweptAtMs = -Infinity

  const evict = (state: ScopeState): void => {
    byUse.delete(state)
    state.tenant.states[state.scope].delete(state.id)
    if (isEmpty(state.tenant)) tenants.delete(state.tenant.organization)
  }

  const touch = (state: ScopeState, timeMs: number): void => {
    if (Math.abs(timeMs - state.usedAtMs) < orderMs) return
    state.usedAtMs = timeMs
    byUse.delete(state)
    byUse.add(state)
  }

  /** The scopes of the current call were touched within `orderMs`, so they are never evicted. */
  const evictIdle = (timeMs: number, idleForMs: number, atMost: number): void => {
    let tries = 0
    for (const state of byUse) {
      if (++tries > atMost || timeMs - state.usedAtMs < idleForMs) return
      if (state.inFlight === 0) evict(state)
      else touch(state, timeMs)
    }
  }

  const stateOf = (tenant: Tenant, scope: LimitScope, id: string): ScopeState => {
    let state = tenant.states[scope].get(id)
    if (state === undefined) {
      state = createScopeState(tenant, scope, id)
      tenant.states[scope].set(id, state)
    }
    slideAll(state, tenant.clockMs)
    return state
  }

  return {
    find: (organization) => tenants.get(organization),

    open(organization) {
      let tenant = tenants.get(organization)
      if (tenant === undefined) {
        tenant = createTenant(organization)
        tenants.set(organization, tenant)
      }
      return tenant
    },

    statesOf(tenant, { key, project, organization }, timeMs) {
      const states: ScopeStates = [
        stateOf(tenant, 'key', key),
        stateOf(tenant, 'project', project),
        stateOf(tenant, 'organization', organization),
      ]
      for (const state of states) touch(state, timeMs)
      if (tracksChanges) for (const state of states) changed.add(state)
      if (byUse.size > maxScopes) evictIdle(timeMs, orderMs, byUse.size - maxScopes + 8)
      if (Math.abs(timeMs - sweptAtMs) >= sweepEveryMs) {
        sweptAtMs = timeMs
        evictIdle(timeMs, idleMs, sweepAtMost)
      }
      return states
    },

    stateOf(tenant, { scope, id }, timeMs) {
      const state = stateOf(tenant, scope, id)
      touch(state, timeMs)
      return state
    },

    remove(organization) {
      const tenant = tenants.get(organization)
      if (tenant === undefined) return
      for (const states of Object.values(tenant.states)) for (const state of states.values()) byUse.delete(state)
      tenants.delete(organization)
    },

    organizations: () => tenants.keys(),

    takeChanged(max) {
      const taken = changed.values().take(max).toArray()
      if (taken.length === changed.size) changed = new Set()
      else for (const state of taken) changed.delete(state)
      return taken
    },

    get scopeCount() {
      return byUse.size
    },
    get tenantCount() {
      return tenants.size
    },
  }
}

const isEmpty = (tenant: Tenant): boolean =>
  tenant.states.key.size + tenant.states.project.size + tenant.states.organization.size === 0 &&
  tenant.leases.size + tenant.holds.size === 0 &&
  tenant.slice === null &&
  tenant.budgets.counters.size === 0
