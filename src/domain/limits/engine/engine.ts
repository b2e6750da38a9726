import {
  assertWhole,
  type AdmissionRequest,
  type CreditAccount,
  type LimitSettings,
  type OpenHold,
  type Renewal,
  type LimitSettlement,
} from '../admission.ts'
import { admit } from './admit.ts'
import { countBudgets, settleBudgets } from './budgets.ts'
import { demandsOf } from './check.ts'
import { topUp, settleCredits } from './slice.ts'
import type { LimitStore } from '../store.ts'
import type { NodeUsage, LimitUsage } from '../usage.ts'
import {
  advanceClock,
  freeExpiredSlots,
  freeSlot,
  tenantTime,
  type CreditHold,
  takeSlot,
  type SlotLease,
  type ScopeStates,
  type Tenant,
} from './tenant.ts'
import { createTenants } from './tenants.ts'
import { addScope, holdSlot, countAdmitted, nodeUsage, retract, usageOf } from './usage.ts'
import { add, takeBack, type SlidingWindow } from './sliding-window.ts'

type Sync<Method> = Method extends (...args: infer Args) => infer Result ? (...args: Args) => Awaited<Result> : never

/** The counters in this process: a limit store whose methods are synchronous. */
export type LimitEngine = { readonly [Name in keyof LimitStore]: Sync<LimitStore[Name]> } & {
  readonly epoch: string
  /** True if this engine admitted the request and it is not settled yet. */
  isOpen(request: Renewal): boolean
  /** True if the request is counted as in flight, whichever store admitted it. */
  isCounted(request: Renewal): boolean
  /** Counts a request that another store has admitted, at the time of that store. */
  countAdmitted(request: AdmissionRequest, atMs: number): void
  /** From now on, another store is responsible for the request and its credits. */
  handOver(request: Renewal): void
  /** Undoes an admission that another store then rejected. */
  retract(request: AdmissionRequest): void
  /** Everything counted for an organization; undefined if there is nothing. */
  usageOf(organization: string): LimitUsage | undefined
  /** Adds the usage that another store has counted. */
  contribute(use: LimitUsage): void
  /** Stops counting for an organization. */
  remove(organization: string): void
  isCounting(organization: string): boolean
  /** The usage of at most this many scopes that changed since they were taken last, those that wait longest first. */
  takeChanged(max: number): readonly NodeUsage[]
  /** Every counter of a budget must be opened again before it admits a request. */
  closeBudgets(): void
  organizations(): Iterable<string>
  readonly size: { readonly scopes: number; readonly tenants: number }
}

export type LimitEngineOptions = {
  /** Whole milliseconds. Preferably a monotonic clock, because nothing here outlives the process. */
  readonly nowMs: () => number
  /** Unique: a slice granted to an earlier engine must not be spent from. */
  readonly epoch: string
  readonly settings: LimitSettings
  /** For `takeChanged`. */
  readonly tracksChanges?: boolean
  readonly maxScopes?: number
  readonly idleMs?: number
}

/** The reference model of admission: every other store must decide exactly as this one does. */
export function createLimitEngine(options: LimitEngineOptions): LimitEngine {
  const { epoch, settings, tracksChanges = false, maxScopes = 50_000, idleMs = 25 * 3_600_000 } = options
  const tenants = createTenants({ maxScopes, idleMs, tracksChanges })

  return {
    epoch,
    isOpen: ({ organization, requestId }) => tenants.find(organization)?.holds.get(requestId)?.isForeign === false,
    isCounted: ({ organization, requestId }) => tenants.find(organization)?.holds.has(requestId) ?? false,
    get size() {
      return { scopes: tenants.scopeCount, tenants: tenants.tenantCount }
    },

    admit(request) {
      if (request.mode !== 'count') assertWhole(request.tokens, request.micro ?? 0)
      const timeMs = options.nowMs()
      const tenant = tenants.open(request.organization)
      const nowMs = advanceClock(tenant, timeMs)
      const states = tenants.statesOf(tenant, request, timeMs)
      freeExpiredSlots(tenant, nowMs)
      const context = { states, limits: request.limits, needs: demandsOf(request), nowMs }
      return admit({ tenant, request, epoch, settings }, context)
    },

    countAdmitted(request, atMs) {
      const timeMs = options.nowMs()
      const tenant = tenants.open(request.organization)
      // From here on the organization's clock follows that of the other store; otherwise their slots would differ.
      tenant.clockOffsetMs = atMs - timeMs
      tenant.clockMs = Math.max(tenant.clockMs, atMs)
      countAdmitted({ tenant, states: tenants.statesOf(tenant, request, timeMs), settings }, request)
    },

    handOver({ organization, requestId }) {
      const hold = tenants.find(organization)?.holds.get(requestId)
      if (hold !== undefined) hold.isForeign = true
    },

    retract(request) {
      const tenant = tenants.open(request.organization)
      retract(tenant, tenants.statesOf(tenant, request, options.nowMs()), request)
    },

    usageOf(organization) {
      const tenant = tenants.find(organization)
      if (tenant === undefined) return undefined
      freeExpiredSlots(tenant, advanceClock(tenant, options.nowMs()))
      return usageOf(tenant)
    },

    contribute({ organization, scopes: used, running }) {
      const timeMs = options.nowMs()
      const tenant = tenants.open(organization)
      advanceClock(tenant, timeMs)
      if (used.length > 0) tenant.budgets.version++ // what was used elsewhere was spent of budgets too
      for (const use of used) addScope(tenants.stateOf(tenant, use, timeMs), use)
      for (const request of running) {
        const states = tenants.statesOf(tenant, { organization, ...request }, timeMs)
        holdSlot(tenant, states, { request, settings, isNoted: false })
      }
    },

    remove: (organization) => tenants.remove(organization),
    isCounting: (organization) => tenants.find(organization) !== undefined,
    organizations: () => tenants.organizations(),
    takeChanged: (max) => Array.from(tenants.takeChanged(max), nodeUsage),

    settle(settlement) {
      assertWhole(settlement.tokens, settlement.micro)
      const timeMs = options.nowMs()
      const tenant = tenants.open(settlement.organization)
      advanceClock(tenant, timeMs)
      return settleTokens(tenant, tenants.statesOf(tenant, settlement, timeMs), settlement)
    },

    leave({ organization, requestId }) {
      const tenant = tenants.find(organization)
      if (tenant !== undefined) freeSlot(tenant, requestId)
    },

    renew(renewals) {
      const timeMs = options.nowMs()
      for (const renewal of renewals) {
        const tenant = tenants.open(renewal.organization)
        const expiresAtMs = advanceClock(tenant, timeMs) + settings.leaseMs
        renew(tenant, renewal.requestId, { expiresAtMs, states: tenants.statesOf(tenant, renewal, timeMs) })
      }
    },

    grant(grant) {
      assertWhole(grant.amountMicro)
      return grant.epoch === epoch ? topUp(tenants.open(grant.organization), grant) : 'stale'
    },

    close({ organization, epoch: grantedIn, sliceId }) {
      const tenant = tenants.find(organization)
      if (grantedIn === epoch && tenant?.slice?.sliceId === sliceId) tenant.slice = null
      return 'closed'
    },

    countBudgets(count) {
      const tenant = tenants.open(count.organization)
      if (count.epoch === epoch) countBudgets(tenant, count, tenantTime(tenant, options.nowMs()))
    },

    heldBudgets: (organization, counters) =>
      counters.map((counter) => tenants.find(organization)?.budgets.counters.get(counter)?.held ?? 0),

    closeBudgets() {
      for (const organization of tenants.organizations()) tenants.open(organization).budgets.version++
    },

    accounts(organization) {
      const tenant = tenants.find(organization)
      if (tenant === undefined) return []
      return accountsOf(tenant, tenantTime(tenant, options.nowMs()))
    },
  }
}

function accountsOf({ slice, holds }: Tenant, nowMs: number): CreditAccount[] {
  const own = Array.from(holds).filter(([, held]) => !held.isForeign)
  if (slice === null && own.length === 0) return []
  return [{ slice: slice && { ...slice }, holds: own.map((entry) => openHold(entry, nowMs)) }]
}

const openHold = ([requestId, held]: [string, CreditHold], nowMs: number): OpenHold => ({
  requestId,
  project: held.project,
  key: held.key,
  tokens: held.tokens,
  micro: held.micro,
  sliceId: held.sliceId,
  overdue: held.deadlineMs <= nowMs,
})

/** Ends a request: frees its slot, and corrects its tokens and credits to what it really used. */
function settleTokens(tenant: Tenant, states: ScopeStates, settlement: LimitSettlement): 'settled' | 'gone' {
  freeSlot(tenant, settlement.requestId)
  const hold = tenant.holds.get(settlement.requestId)
  settleBudgets(tenant, hold?.budgets ?? [], settlement)
  if (hold === undefined) return 'gone'
  tenant.holds.delete(settlement.requestId)
  settleCredits(tenant, hold, settlement.micro)
  for (const { tpm, tpd } of states) {
    correct(tpm, settlement.tokens - hold.tokens, hold.admittedAtMs)
    correct(tpd, settlement.tokens - hold.tokens, hold.admittedAtMs)
  }
  return 'settled'
}

/** An excess is returned to the slot in which it was reserved. A shortage counts from now on, so that it limits the caller. */
function correct(window: SlidingWindow, difference: number, reservedAtMs: number): void {
  if (difference < 0) takeBack(window, reservedAtMs, -difference)
  else add(window, difference)
}

/** Also restores a slot that expired while its request was still running. */
function renew(tenant: Tenant, requestId: string, lease: SlotLease): void {
  const hold = tenant.holds.get(requestId)
  if (hold === undefined || hold.deadlineMs <= tenant.clockMs) return
  freeSlot(tenant, requestId)
  takeSlot(tenant, requestId, lease)
}
