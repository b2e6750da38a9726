import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { LimitSettlement } from './admission.ts'
import { createAdmissions } from './admissions.ts'
import { createCircuitBreaker } from './breaker.ts'
import type { ClusterMembership } from './cluster-membership.ts'
import { createContributions } from './contributions.ts'
import type { LimitEngine } from './engine/engine.ts'
import { withinShare } from './share.ts'
import { LimitStoreError, type LimitStore, type SettleResult, type SharedLimitStore } from './store.ts'

export type FallbackOptions = {
  readonly shared: SharedLimitStore
  /** This node's own counters. They count all that it admits, and decide while the shared ones are unreachable. */
  readonly local: LimitEngine
  /** Counters of the same kind, initially empty, for what the shared ones have not received yet. */
  readonly unsent: LimitEngine
  readonly nodeId: string
  /** The nodes that share the limits. */
  readonly membership: ClusterMembership
  readonly clock: Clock
  readonly random: Random
  /** Called for every failed call. `script` is a bug and deserves an alert. */
  readonly onFailure?: (operation: keyof LimitStore, error: LimitStoreError) => void
  /** For readiness and metrics. */
  readonly onChange?: (isDegraded: boolean) => void
}

/** A limit store that is always available. */
export type FallbackStore = LimitStore &
  Disposable & {
    isDegraded(): boolean
    /** Registers this node with the shared counters and sends them what they lack. A job calls it every second. Never fails. */
    sync(): Promise<void>
  }

/** Settlements beyond this are dropped: the slots expire, and the reconciler ends the holds. */
const maxPending = 10_000

/**
 * Uses the shared counters, and while they are unreachable this node's own with its share of each limit. The local counters
 * count all that this node admits, so that a switch between the two starts from the known usage. Usage that the shared
 * counters lost or never received is contributed by every node before more than each node's share is admitted.
 * Credits stay exact, because the local counters spend only from slices granted to their own epoch.
 */
export function createFallbackStore(options: FallbackOptions): FallbackStore {
  const { shared, local, unsent, nodeId, membership, clock, random, onFailure, onChange } = options
  const breaker = createCircuitBreaker({
    clock,
    random,
    probe: () => shared.probe(),
    onChange(isDegraded) {
      // The own counters know nothing of what was spent since they were opened last.
      if (isDegraded) local.closeBudgets()
      onChange?.(isDegraded)
    },
  })
  const isReachable = (): boolean => !breaker.isOpen()
  const contributions = createContributions({ shared, own: local, unsent, nodeId, membership, isReachable })
  const nodes = (): number => Math.max(1, membership.count())
  const { admitShared, admitLocally } = createAdmissions({ shared, local, contributions, nodes })

  /** Settlements that the shared store has not received. */
  const pending = new Map<string, LimitSettlement>()

  /** Calls the shared store. Resolves to undefined if it is unreachable. */
  const call = async <T>(
    operation: keyof LimitStore,
    send: () => T | Promise<T>,
    onUnreachable = (): void => {},
  ): Promise<T | undefined> => {
    if (breaker.isOpen()) {
      onUnreachable()
      return undefined
    }
    try {
      const result = await send()
      if (pending.size > 0) void sendPending()
      return result
    } catch (error) {
      if (!(error instanceof LimitStoreError)) throw error
      breaker.failed()
      onFailure?.(operation, error)
      // A script error repeats with every attempt. Retrying it would keep the breaker open forever.
      if (error.reason === 'unreachable') onUnreachable()
      return undefined
    }
  }

  /** The store settles a request once, so a settlement which did arrive does no harm when it is sent again. */
  const sendPending = async (): Promise<void> => {
    const late = [...pending.values()]
    pending.clear()
    for (const settlement of late) await settleShared({ ...settlement, isLate: true })
  }

  const settleShared = async (settlement: LimitSettlement): Promise<SettleResult> => {
    const keep = (): void => {
      if (pending.size < maxPending) pending.set(settlement.requestId, settlement)
    }
    return (await call('settle', () => shared.settle(settlement), keep)) ?? 'unreachable'
  }

  return {
    isDegraded: () => breaker.isOpen(),
    sync: () => contributions.sync(),

    async admit(request) {
      return (await call('admit', () => admitShared(request))) ?? admitLocally(request)
    },

    async settle(settlement) {
      const isPaidHere = local.isOpen(settlement)
      const settled = local.isCounted(settlement) ? local.settle(settlement) : 'gone'
      if (contributions.settle(settlement)) return settled
      if (!isPaidHere) return settleShared(settlement)
      await settleShared({ ...settlement, micro: 0 }) // the shared counters have the request, but not its credits
      return settled
    },

    async leave(request) {
      local.leave(request)
      if (!contributions.leave(request)) await call('leave', () => shared.leave(request))
    },

    async renew(renewals) {
      local.renew(renewals.filter((renewal) => local.isCounted(renewal)))
      const sent = contributions.renew(renewals)
      if (sent.length > 0) await call('renew', () => shared.renew(sent))
    },

    async grant(grant) {
      if (grant.epoch === local.epoch) return local.grant(grant)
      return (await call('grant', () => shared.grant(grant))) ?? 'unreachable'
    },

    async close(slice) {
      if (slice.epoch === local.epoch) return local.close(slice)
      return (await call('close', () => shared.close(slice))) ?? 'unreachable'
    },

    async countBudgets(count) {
      if (count.epoch === local.epoch) return local.countBudgets(count)
      await call('countBudgets', () => shared.countBudgets(count))
    },

    async heldBudgets(organization, counters) {
      const others = await call('heldBudgets', () => shared.heldBudgets(organization, counters))
      if (others === undefined) throw unreadable()
      const own = local.heldBudgets(organization, counters)
      return others.map((held, at) => held + (own[at] ?? 0))
    },

    async accounts(organization) {
      const others = await call('accounts', () => shared.accounts(organization))
      if (others === undefined) throw unreadable()
      return [...local.accounts(organization), ...others]
    },

    [Symbol.dispose]() {
      breaker[Symbol.dispose]()
    },
  }
}

const unreadable = (): LimitStoreError => new LimitStoreError('unreachable', 'the shared counters cannot be read')

/** Counters of one node among several that cannot count together: it admits its share of each limit. */
export const createDividedStore = (store: LimitStore, nodes: () => number): LimitStore => ({
  ...store,
  admit: (request) => store.admit(withinShare(request, nodes())),
})
