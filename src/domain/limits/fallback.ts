import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { LimitSettlement } from './admission.ts'
import { createAdmissions } from './admissions.ts'
import { createCircuitBreaker } from './breaker.ts'
import type { ClusterMembership } from './cluster-membership.ts'
import { createContributions } from './contributions.ts'
import type { LimitEngine } from './engine/engine.ts'
import { LimitStoreError, type LimitStore, type SettleResult, type SharedLimitStore } from './store.ts'

export type FallbackOptions = {
  readonly shared: SharedLimitStore
  /** This node's own counters: of all that it admits, and those that decide while the shared ones are out of reach. */
  readonly local: LimitEngine
  /** The same kind of counters, empty: of what the shared ones have not been told. */
  readonly untold: LimitEngine
  readonly nodeId: string
  /** The nodes that share the limits now. */
  readonly census: ClusterMembership
  readonly clock: Clock
  readonly random: Random
  /** Every failed call. `script` is a bug of ours and deserves an alarm. */
  readonly onFailure?: (operation: keyof LimitStore, error: LimitStoreError) => void
  /** For readiness and metrics. */
  readonly onChange?: (isDegraded: boolean) => void
}

/** A limit store that always answers. */
export type FallbackStore = LimitStore &
  Disposable & {
    isDegraded(): boolean
    /** Tells the shared counters that this node takes part; a job repeats it every second. Never fails. */
    attend(): Promise<void>
  }

/** What is beyond this waits for time to free its place, and for the ledger to end its hold. */
const maxUnsent = 10_000

/**
 * The shared counters, and while they are out of reach this node's own with its share of each limit. The local counters
 * have all that this node admits, so that a change from one to the other starts from what is known. What the shared
 * ones have lost, or never heard of, they get from every node before more than each node's share is admitted.
 * Money stays exact: the local counters spend only from slices granted to their own epoch.
 */
export function createFallbackStore(options: FallbackOptions): FallbackStore {
  const { shared, local, untold, nodeId, census, clock, random, onFailure, onChange } = options
  const breaker = createCircuitBreaker({ clock, random, probe: () => shared.probe(), ...(onChange && { onChange }) })
  const isReachable = (): boolean => !breaker.isOpen()
  const contributions = createContributions({ shared, own: local, untold, nodeId, census, isReachable })
  const nodes = (): number => Math.max(1, census.count())
  const { admitShared, admitLocally } = createAdmissions({ shared, local, contributions, nodes })

  const unheard = new Map<string, LimitSettlement>() // settled while the shared store could not be told

  /** What the shared store says; undefined where it cannot be asked. */
  const ask = async <T>(
    operation: keyof LimitStore,
    call: () => T | Promise<T>,
    whenUnheard = (): void => {},
  ): Promise<T | undefined> => {
    if (breaker.isOpen()) {
      whenUnheard()
      return undefined
    }
    try {
      const answer = await call()
      if (unheard.size > 0) void sayAgain()
      return answer
    } catch (error) {
      if (!(error instanceof LimitStoreError)) throw error
      breaker.failed()
      onFailure?.(operation, error)
      // What fails as a script fails each time: said again and again it would keep us from the store for good.
      if (error.reason === 'unreachable') whenUnheard()
      return undefined
    }
  }

  /** A request is settled once, so that it does no harm if one was heard after all. */
  const sayAgain = async (): Promise<void> => {
    const late = [...unheard.values()]
    unheard.clear()
    for (const settlement of late) await settleShared(settlement)
  }

  const settleShared = async (settlement: LimitSettlement): Promise<SettleResult> => {
    const sayLater = (): void => {
      if (unheard.size < maxUnsent) unheard.set(settlement.requestId, settlement)
    }
    return (await ask('settle', () => shared.settle(settlement), sayLater)) ?? 'unreachable'
  }

  return {
    isDegraded: () => breaker.isOpen(),
    attend: () => contributions.lookAfter(),

    async admit(request) {
      return (await ask('admit', () => admitShared(request))) ?? admitLocally(request)
    },

    async settle(settlement) {
      const isPaidHere = local.isOpen(settlement)
      const settled = local.isCounted(settlement) ? local.settle(settlement) : 'gone'
      if (contributions.settle(settlement)) return settled
      if (!isPaidHere) return settleShared(settlement)
      await settleShared({ ...settlement, micro: 0 }) // the shared counters know of the request, not of its money
      return settled
    },

    async leave(request) {
      local.leave(request)
      if (!contributions.leave(request)) await ask('leave', () => shared.leave(request))
    },

    async renew(renewals) {
      local.renew(renewals.filter((renewal) => local.isCounted(renewal)))
      const told = contributions.renew(renewals)
      if (told.length > 0) await ask('renew', () => shared.renew(told))
    },

    async grant(grant) {
      if (grant.epoch === local.epoch) return local.grant(grant)
      return (await ask('grant', () => shared.grant(grant))) ?? 'unreachable'
    },

    async close(slice) {
      if (slice.epoch === local.epoch) return local.close(slice)
      return (await ask('close', () => shared.close(slice))) ?? 'unreachable'
    },

    async accounts(organization) {
      const others = await ask('accounts', () => shared.accounts(organization))
      if (others === undefined) throw new LimitStoreError('unreachable', 'the shared counters cannot be read')
      return [...local.accounts(organization), ...others]
    },

    [Symbol.dispose]() {
      breaker[Symbol.dispose]()
    },
  }
}
