import type { Subject } from '../admission.ts'
import type { LimitScope } from '../scopes.ts'
import { createScopeState, createTenant, slideAll, type ScopeState, type ScopeStates, type Tenant } from './tenant.ts'

/** Where the engine keeps its tenants. Bounded: what was used longest ago is forgotten first. */
export type Tenants = {
  find(organization: string): Tenant | undefined
  open(organization: string): Tenant
  /** The three scopes of a request, moved on to the tenant's clock. `timeMs` orders them by use. */
  statesOf(tenant: Tenant, subject: Subject, timeMs: number): ScopeStates
  /** One scope, in the same way. */
  stateOf(tenant: Tenant, named: { readonly scope: LimitScope; readonly id: string }, timeMs: number): ScopeState
  remove(organization: string): void
  /** The scopes that were used since this was last asked. */
  takeChanged(): Iterable<ScopeState>
  organizations(): Iterable<string>
  readonly scopeCount: number
  readonly tenantCount: number
}

export type TenantsOptions = {
  /** Whether it is remembered which scopes have changed. */
  readonly tracksChanges: boolean
  /** Beyond this, the scopes that were used longest ago are forgotten, if nothing of theirs is in flight. */
  readonly maxScopes: number
  /** A scope unused for longer than a day window has nothing left to remember. */
  readonly idleMs: number
}

const sweepEveryMs = 60_000
const sweepAtMost = 1_000
/** How exact the order of use is; it keeps the hot path from reordering at every touch. */
const orderMs = 1_000

export function createTenants({ maxScopes, idleMs, tracksChanges }: TenantsOptions): Tenants {
  const tenants = new Map<string, Tenant>()
  const byUse = new Set<ScopeState>() // used longest ago first
  let changed = new Set<ScopeState>()
  let sweptAtMs = -Infinity

  const forget = (state: ScopeState): void => {
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

  /** Whatever this call uses was touched within `orderMs`, so it is never the one forgotten. */
  const forgetIdle = (timeMs: number, idleForMs: number, atMost: number): void => {
    let tries = 0
    for (const state of byUse) {
      if (++tries > atMost || timeMs - state.usedAtMs < idleForMs) return
      if (state.inFlight === 0) forget(state)
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
      if (byUse.size > maxScopes) forgetIdle(timeMs, orderMs, byUse.size - maxScopes + 8)
      if (Math.abs(timeMs - sweptAtMs) >= sweepEveryMs) {
        sweptAtMs = timeMs
        forgetIdle(timeMs, idleMs, sweepAtMost)
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

    takeChanged() {
      const taken = changed
      changed = new Set()
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
  tenant.slice === null
