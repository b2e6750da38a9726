import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { AdmissionRequest, Renewal, Settlement, Verdict } from './admission.ts'
import { createBreaker } from './breaker.ts'
import type { LimitEngine } from './engine/engine.ts'
import { shareOf } from './scopes.ts'
import { LimitStoreError, type LimitStore, type SettleResult, type SharedLimitStore } from './store.ts'

export type FallbackOptions = {
  readonly shared: SharedLimitStore
  /** This node's own counters, for as long as the shared ones are out of reach. */
  readonly local: LimitEngine
  /** How many nodes share the limits now. */
  readonly nodes: () => number
  readonly clock: Clock
  readonly random: Random
  /** Every failed call. `script` is a bug of ours and deserves an alarm. */
  readonly onFailure?: (operation: keyof LimitStore, error: LimitStoreError) => void
  /** For readiness and metrics. */
  readonly onChange?: (isDegraded: boolean) => void
}

/** A limit store that always answers. */
export type FallbackStore = LimitStore & Disposable & { isDegraded(): boolean }

/** What is beyond this waits for time to free its place, and for the ledger to end its hold. */
const mostUnheard = 10_000

/**
 * The shared counters, and while they are out of reach this node's own with its share of each limit, so that all nodes
 * together stay within it. Money stays exact: the local counters spend only from slices granted to their own epoch.
 */
export function createFallbackStore(options: FallbackOptions): FallbackStore {
  const { shared, local, nodes, clock, random, onFailure, onChange } = options
  const breaker = createBreaker({ clock, random, probe: () => shared.probe(), ...(onChange && { onChange }) })

  const unheard = new Map<string, Settlement>() // settled while the shared store could not be told

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

  const settleShared = async (settlement: Settlement): Promise<SettleResult> => {
    const sayLater = (): void => {
      if (unheard.size < mostUnheard) unheard.set(settlement.requestId, settlement)
    }
    return (await ask('settle', () => shared.settle(settlement), sayLater)) ?? 'unreachable'
  }

  return {
    isDegraded: () => breaker.isOpen(),

    async admit(request) {
      const verdict = await ask('admit', () => admitOrUndo(shared, request))
      return verdict ?? local.admit({ ...request, limits: shareOf(request.limits, Math.max(1, nodes())) })
    },

    async settle(settlement) {
      return local.isOpen(settlement) ? local.settle(settlement) : settleShared(settlement)
    },

    async leave(request) {
      if (local.isOpen(request)) return local.leave(request)
      await ask('leave', () => shared.leave(request))
    },

    async renew(renewals) {
      const own = renewals.filter((renewal) => local.isOpen(renewal))
      const others = renewals.filter((renewal) => !local.isOpen(renewal))
      local.renew(own)
      if (others.length > 0) await ask('renew', () => shared.renew(others))
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

    [Symbol.dispose]: () => breaker[Symbol.dispose](),
  }
}

/**
 * An admission without an answer may have happened all the same. What follows it on the same connection gives back what
 * it took; if that fails too, the place expires and the hold becomes overdue.
 */
async function admitOrUndo(shared: SharedLimitStore, request: AdmissionRequest): Promise<Verdict> {
  try {
    return await shared.admit(request)
  } catch (error) {
    if (request.mode === 'full') void undo(shared, request)
    throw error
  }
}

async function undo(shared: SharedLimitStore, { organization, project, key, requestId }: Renewal): Promise<void> {
  try {
    await shared.settle({ organization, project, key, requestId, tokens: 0, micro: 0 })
  } catch {
    // Out of reach: time does the rest.
  }
}
