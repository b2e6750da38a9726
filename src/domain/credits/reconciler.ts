import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import type { ClusterMembership } from '../limits/cluster-membership.ts'
import type { CreditAccount, OpenHold } from '../limits/admission.ts'
import { LimitStoreError, type LimitStore } from '../limits/store.ts'
import type { ChargeBacklog } from './backlog.ts'
import type { SliceAllocator } from './slice-allocator.ts'
import type { LedgerStore, Slice } from './ledger-store.ts'
import type { Charge } from './charge.ts'

export type ReconcilerParts = {
  readonly ledger: LedgerStore
  readonly limits: LimitStore
  readonly allocator: Pick<SliceAllocator, 'freeze'>
  readonly backlog: Pick<ChargeBacklog, 'isEmpty'> | null
  /** The epoch of this node's own counters. */
  readonly ownEpoch: string
  /** The epoch of an organization's shared counters: null while they are unreachable, undefined without shared counters. */
  readonly sharedEpoch: (organizationId: string) => string | null | undefined
  readonly membership: ClusterMembership
  /** Longer than the longest request: after this time no charge can arrive. */
  readonly holdMs: number
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly onOrphans: (count: number) => void
  readonly onDifference: (organizationId: string, difference: LedgerDifference) => void
}

/** A difference between the ledger and the counters, in words, and whether it lets an organization overspend. */
export type LedgerDifference = { readonly description: string; readonly isOverspending: boolean }

/** Periodic maintenance of the ledger: slices whose counters are gone, requests whose node is gone, and checks of the sums. */
export type Reconciler = {
  /** Retires slices that can no longer be spent from, and returns the rest of those that were retired long enough ago. */
  reconcileSlices(): Promise<void>
  /** Releases all slices of previous processes. Call only when those processes are known to be dead. */
  releasePrevious(): Promise<void>
  /** Ends overdue requests and checks the sums of these organizations and of all that have a slice. */
  reconcileRequests(organizations: Iterable<string>): Promise<void>
  /** Returns the slices of this node before it stops. */
  release(): Promise<void>
}

export function createReconciler(parts: ReconcilerParts): Reconciler {
  const { ledger, limits, clock, ownEpoch } = parts

  return {
    async reconcileSlices() {
      for (const slice of await ledger.liveSlices()) await reconcile(slice)
    },

    async reconcileRequests(organizations) {
      const slices = await ledger.liveSlices()
      for (const organization of new Set([...organizations, ...slices.map(({ organizationId }) => organizationId)])) {
        const accounts = await readAccounts(organization)
        if (accounts === undefined) return
        const ended = await resolveOrphans(parts, organization, accounts)
        if (ended > 0) parts.onOrphans(ended)
        const difference = await findDifference(parts, organization)
        if (difference === undefined) continue
        if (difference.isOverspending) parts.allocator.freeze(organization)
        parts.onDifference(organization, difference)
      }
    },

    async releasePrevious() {
      for (const { id, holder, epoch } of await ledger.liveSlices()) {
        if (holder === 'node' && epoch !== ownEpoch) await ledger.closeSlice(id)
      }
    },

    async release() {
      for (const slice of await ledger.liveSlices()) if (slice.epoch === ownEpoch) await retire(slice)
    },
  }

  async function reconcile(slice: Slice): Promise<void> {
    if (slice.state === 'open' && !mayBeSpent(slice)) await retire(slice)
    else if (slice.state === 'closing' && (await isSettled(slice))) await ledger.closeSlice(slice.id)
  }

  function mayBeSpent({ organizationId, holder, epoch }: Slice): boolean {
    const shared = parts.sharedEpoch(organizationId)
    if (holder === 'shared') return shared === null || shared === epoch // unreachable for this node does not mean gone
    if (epoch !== ownEpoch) return parts.membership.isAlive(epoch)
    return shared === null || shared === undefined // this node's own slice is only for outages of the shared counters
  }

  async function retire(slice: Slice): Promise<void> {
    const { id, organizationId, epoch } = slice
    await limits.close({ organization: organizationId, epoch, sliceId: id })
    await ledger.retireSlice(id)
    await parts.failpoint('slice retired')
    if (await isIdle(slice)) await ledger.closeSlice(id)
  }

  /** A slice of this node is settled once no request holds credits from it. For other slices, only elapsed time tells. */
  async function isSettled(slice: Slice): Promise<boolean> {
    if (slice.epoch === ownEpoch) return isIdle(slice)
    return slice.closingAtMs !== null && clock.nowMs() - slice.closingAtMs > parts.holdMs
  }

  async function readAccounts(organization: string): Promise<readonly CreditAccount[] | undefined> {
    try {
      return await limits.accounts(organization)
    } catch (error) {
      if (error instanceof LimitStoreError) return undefined // retried in the next round
      throw error
    }
  }

  async function isIdle({ id, organizationId, epoch }: Slice): Promise<boolean> {
    if (epoch !== ownEpoch || parts.backlog?.isEmpty() === false) return false
    const accounts = await readAccounts(organizationId)
    return accounts !== undefined && !accounts.some(({ holds }) => holds.some((hold) => hold.sliceId === id))
  }
}

/**
 * Ends the requests whose deadline has passed. Each is first written to the ledger as orphaned. If the node charged the
 * request before it died, the ledger returns that charge; otherwise the cost is 0. Resolves to the number of ended requests.
 */
async function resolveOrphans(
  { ledger, limits, clock, failpoint }: Pick<ReconcilerParts, 'ledger' | 'limits' | 'clock' | 'failpoint'>,
  organization: string,
  accounts: readonly CreditAccount[],
): Promise<number> {
  const overdue = accounts.flatMap(({ holds }) => holds).filter((hold) => hold.overdue)
  for (const hold of overdue) {
    const { requestId, project, key, tokens } = hold
    const { micro } = await ledger.settle(givenUp(organization, hold, clock.nowMs()))
    await failpoint('given up')
    await limits.settle({ organization, project, key, requestId, tokens, micro })
  }
  return overdue.length
}

const givenUp = (organizationId: string, hold: OpenHold, atMs: number): Charge => ({
  requestId: hold.requestId,
  organizationId,
  projectId: hold.project,
  keyId: hold.key,
  model: '',
  atMs,
  outcome: 'orphaned',
  sliceId: hold.sliceId,
  micro: 0,
  usage: { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, source: 'estimated' },
  rates: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, version: '' },
})

type DifferenceParts = Pick<ReconcilerParts, 'ledger' | 'limits'>

/** Undefined if everything adds up, or if the counters changed during the check. */
async function findDifference(parts: DifferenceParts, organization: string): Promise<LedgerDifference | undefined> {
  const drift = await parts.ledger.drift(organization)
  if (drift !== 0)
    return { description: `its account holds ${drift} micro-credits more than its slices`, isOverspending: true }
  const accounts = await parts.limits.accounts(organization)
  const differences = await Promise.all(accounts.map((account) => differenceOf(parts, account)))
  const isStill = JSON.stringify(accounts) === JSON.stringify(await parts.limits.accounts(organization))
  if (!isStill) return undefined
  return differences.find((one) => one?.isOverspending) ?? differences.find((one) => one !== undefined)
}

/** Credits granted to the counters are left there, held for a running request, or spent by one that has ended. */
async function differenceOf(
  { ledger, limits }: DifferenceParts,
  { slice, holds }: CreditAccount,
): Promise<LedgerDifference | undefined> {
  if (slice === null) return undefined
  const own = holds.filter(({ sliceId }) => sliceId === slice.sliceId)
  const known = await ledger.settledOf(
    slice.sliceId,
    own.map(({ requestId }) => requestId),
  )
  if (known?.state !== 'open') await limits.close(slice)
  if (known === undefined || known.state === 'closed') return undefined
  const held = own.reduce((sum, { micro }) => sum + (micro ?? 0), 0)
  const unknown = slice.amountMicro - slice.leftMicro - held - known.micro
  if (unknown === 0) return undefined
  const counters = `the counters of ${slice.sliceId}`
  // Charges that are not in the ledger yet may be spooled on the disk of a node that cannot reach it.
  return unknown > 0
    ? {
        description: `${counters} have spent ${unknown} micro-credits that are not in the ledger`,
        isOverspending: false,
      }
    : { description: `${counters} know of ${-unknown} micro-credits less than the ledger`, isOverspending: true }
}
