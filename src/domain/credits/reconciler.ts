import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import type { ClusterMembership } from '../limits/cluster-membership.ts'
import type { CreditAccount } from '../limits/admission.ts'
import { LimitStoreError, type LimitStore } from '../limits/store.ts'
import type { ChargeBacklog } from './backlog.ts'
import type { SliceAllocator } from './slice-allocator.ts'
import type { LedgerStore, Slice } from './ledger-store.ts'
import { resolveOrphans } from './orphans.ts'
import { findDifference, type LedgerDifference } from './find-difference.ts'

export type ReconcilerParts = {
  readonly ledger: LedgerStore
  readonly limits: LimitStore
  readonly funds: Pick<SliceAllocator, 'freeze'>
  readonly backlog: Pick<ChargeBacklog, 'isEmpty'> | null
  /** This node's own counters, by the name of their life. */
  readonly ownEpoch: string
  /** The life of the counters that all nodes share: null while they cannot be reached, undefined where there are none. */
  readonly sharedEpoch: () => string | null | undefined
  readonly census: ClusterMembership
  /** Longer than the longest request: after this nobody can still have something to charge. */
  readonly holdMs: number
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly onOrphans: (count: number) => void
  readonly onDifference: (organizationId: string, difference: LedgerDifference) => void
}

/** The ledger's housekeeping: slices whose counters are gone, requests whose node is, and whether the sums add up. */
export type Reconciler = {
  /** Retires slices that nobody can spend any more, and takes back what is left of those that have rested. */
  tidySlices(): Promise<void>
  /** Takes back all that earlier processes held. Only for whoever knows that they are dead, and their requests with them. */
  inherit(): Promise<void>
  /** Ends overdue requests of these organizations, besides those with a slice, and checks their sums. */
  tidyRequests(organizations: Iterable<string>): Promise<void>
  /** Gives back what this node holds, before it stops. */
  release(): Promise<void>
}

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { ledger, limits, clock, ownEpoch } = parts

  return {
    async tidySlices() {
      for (const slice of await ledger.liveSlices()) await tidy(slice)
    },

    async tidyRequests(organizations) {
      const slices = await ledger.liveSlices()
      for (const organization of new Set([...organizations, ...slices.map(({ organizationId }) => organizationId)])) {
        const accounts = await readAccounts(organization)
        if (accounts === undefined) return
        const ended = await resolveOrphans(parts, organization, accounts)
        if (ended > 0) parts.onOrphans(ended)
        const difference = await findDifference(parts, organization)
        if (difference === undefined) continue
        if (difference.isOverspending) parts.funds.freeze(organization)
        parts.onDifference(organization, difference)
      }
    },

    async inherit() {
      for (const { id, holder, epoch } of await ledger.liveSlices()) {
        if (holder === 'node' && epoch !== ownEpoch) await ledger.closeSlice(id)
      }
    },

    async release() {
      for (const slice of await ledger.liveSlices()) if (slice.epoch === ownEpoch) await retire(slice)
    },
  }

  async function tidy(slice: Slice): Promise<void> {
    if (slice.state === 'open' && !mayBeSpent(slice)) await retire(slice)
    else if (slice.state === 'closing' && (await hasRested(slice))) await ledger.closeSlice(slice.id)
  }

  function mayBeSpent({ holder, epoch }: Slice): boolean {
    const shared = parts.sharedEpoch()
    if (holder === 'shared') return shared === null || shared === epoch // out of reach for us is not gone for all
    if (epoch !== ownEpoch) return parts.census.isAlive(epoch)
    return shared === null || shared === undefined // our own is for the time without the shared one
  }

  async function retire(slice: Slice): Promise<void> {
    const { id, organizationId, epoch } = slice
    await limits.close({ organization: organizationId, epoch, sliceId: id })
    await ledger.retireSlice(id)
    await parts.failpoint('slice retired')
    if (await isIdle(slice)) await ledger.closeSlice(id)
  }

  /** Our own slice rests once none of our requests needs it; of all others only time can tell. */
  async function hasRested(slice: Slice): Promise<boolean> {
    if (slice.epoch === ownEpoch) return isIdle(slice)
    return slice.closingAtMs !== null && clock.nowMs() - slice.closingAtMs > parts.holdMs
  }

  async function readAccounts(organization: string): Promise<readonly CreditAccount[] | undefined> {
    try {
      return await limits.accounts(organization)
    } catch (error) {
      if (error instanceof LimitStoreError) return undefined // next time, then
      throw error
    }
  }

  async function isIdle({ id, organizationId, epoch }: Slice): Promise<boolean> {
    if (epoch !== ownEpoch || parts.backlog?.isEmpty() === false) return false
    const accounts = await readAccounts(organizationId)
    return accounts !== undefined && !accounts.some(({ holds }) => holds.some((hold) => hold.sliceId === id))
  }
}
