import { assertWhole, type LimitSettings, type OpenHold, type Renewal } from '../admission.ts'
import { admit } from './admit.ts'
import { needsOf } from './judge.ts'
import { renew, settle } from './settle.ts'
import { raise } from './slice.ts'
import type { LimitStore } from '../store.ts'
import { advanceClock, freeExpiredPlaces, freePlace, tenantTime, type Hold } from './tenant.ts'
import { createTenants } from './tenants.ts'

type AtOnce<Method> = Method extends (...args: infer Args) => infer Result ? (...args: Args) => Awaited<Result> : never

/** The counters in this process: a limit store that answers at once. */
export type LimitEngine = { readonly [Name in keyof LimitStore]: AtOnce<LimitStore[Name]> } & {
  readonly epoch: string
  /** Whether it admitted this request and waits for its settlement. */
  isOpen(request: Renewal): boolean
  readonly size: { readonly scopes: number; readonly tenants: number }
}

export type LimitEngineOptions = {
  /** Whole milliseconds. A monotonic clock serves best: nothing here outlives the process. */
  readonly nowMs: () => number
  /** Unlike that of any engine before: a slice granted to a dead one must not be spent from. */
  readonly epoch: string
  readonly settings: LimitSettings
  readonly maxScopes?: number
  readonly idleMs?: number
}

/** The reference model of admission: every other store must answer exactly as this one does. */
export function createLimitEngine(options: LimitEngineOptions): LimitEngine {
  const { epoch, settings, maxScopes = 50_000, idleMs = 25 * 3_600_000 } = options
  const tenants = createTenants({ maxScopes, idleMs })

  return {
    epoch,
    isOpen: ({ organization, requestId }) => tenants.find(organization)?.holds.has(requestId) ?? false,
    get size() {
      return { scopes: tenants.scopeCount, tenants: tenants.tenantCount }
    },

    admit(request) {
      if (request.mode !== 'count') assertWhole(request.tokens, request.micro ?? 0)
      const timeMs = options.nowMs()
      const tenant = tenants.open(request.organization)
      const nowMs = advanceClock(tenant, timeMs)
      const states = tenants.statesOf(tenant, request, timeMs)
      freeExpiredPlaces(tenant, nowMs)
      const judged = { states, limits: request.limits, needs: needsOf(request), nowMs }
      return admit({ tenant, request, epoch, settings }, judged)
    },

    settle(settlement) {
      assertWhole(settlement.tokens, settlement.micro)
      const timeMs = options.nowMs()
      const tenant = tenants.open(settlement.organization)
      advanceClock(tenant, timeMs)
      return settle(tenant, tenants.statesOf(tenant, settlement, timeMs), settlement)
    },

    leave({ organization, requestId }) {
      const tenant = tenants.find(organization)
      if (tenant !== undefined) freePlace(tenant, requestId)
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
      return grant.epoch === epoch ? raise(tenants.open(grant.organization), grant) : 'stale'
    },

    close({ organization, epoch: grantedIn, sliceId }) {
      const tenant = tenants.find(organization)
      if (grantedIn === epoch && tenant?.slice?.sliceId === sliceId) tenant.slice = null
      return 'closed'
    },

    accounts(organization) {
      const tenant = tenants.find(organization)
      if (tenant === undefined || (tenant.slice === null && tenant.holds.size === 0)) return []
      const nowMs = tenantTime(tenant, options.nowMs())
      const holds = Array.from(tenant.holds, ([requestId, hold]) => openHold(requestId, hold, nowMs))
      return [{ slice: tenant.slice && { ...tenant.slice }, holds }]
    },
  }
}

const openHold = (requestId: string, hold: Hold, nowMs: number): OpenHold => ({
  requestId,
  project: hold.project,
  key: hold.key,
  tokens: hold.tokens,
  micro: hold.micro,
  sliceId: hold.sliceId,
  overdue: hold.deadlineMs <= nowMs,
})
