import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { afterIo } from '../../base/after-io.ts'
import type { Changes } from '../mutations/changes.ts'
import type { CreditStatus } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { LedgerStore, Slice, SliceRequest } from './ledger-store.ts'

export type SliceAllocatorParts = {
  readonly ledger: Pick<LedgerStore, 'openSlice' | 'topUpSlice' | 'retireSlice' | 'closeSlice'>
  readonly limits: Pick<LimitStore, 'grant' | 'close'>
  /** Whether the counters of an epoch are this node's own or shared by all nodes. */
  readonly holderOf: (epoch: string) => Slice['holder']
  readonly changes: Pick<Changes, 'latestOf'>
  readonly ids: Ids
  readonly clock: Clock
  readonly failpoint: Failpoint
}

/** A request that the counters rejected for lack of credits: what it needs, and what the counters had. */
export type Need = { readonly organizationId: string; readonly micro: number; readonly credits: CreditStatus }

/** Moves credits from the ledger to the limiter's counters when requests need them. */
export type SliceAllocator = {
  /**
   * `topped-up`: admit again. `exhausted`: the ledger has no credits for the need. Another request may have taken them just
   * before, so one more attempt is worthwhile.
   */
  topUp(need: Need): Promise<TopUpResult>
  /** Stops all further top-ups of this organization, because its sums do not add up and an operator must investigate. */
  freeze(organizationId: string): void
  frozenCount(): number
}

/** How long another node may take between the ledger and the counters before its slice is considered lost. */
const timeoutMs = 1_000
const pollMs = 20
const maxMissing = 1_000

type TopUpResult = 'topped-up' | 'exhausted'
type Needs = [Need, ...Need[]]

/** Needs of one organization that arrive in the same turn of the event loop share one ledger transaction. */
export function createSliceAllocator(parts: SliceAllocatorParts): SliceAllocator {
  const queued = new Map<string, { readonly needs: Needs; readonly result: Promise<TopUpResult> }>()
  const inFlight = new Map<string, Promise<unknown>>()
  const frozen = new Set<string>()
  const exhausted = createExhaustedBalanceCache(parts)
  /** Slices that are in the ledger and not in the counters. */
  const missing = new Map<string, { readonly sinceMs: number; readonly checkedMs: number }>()

  return {
    async topUp(need) {
      const { organizationId } = need
      if (frozen.has(organizationId)) throw frozenCredits()
      if (exhausted.isExhaustedFor(need)) return 'exhausted'
      const earlier = inFlight.get(organizationId)
      if (earlier !== undefined) return earlier.then(() => 'topped-up') // the counters have changed since the need arose
      const batch = queued.get(organizationId)
      if (batch === undefined) return enqueue(need)
      batch.needs.push(need)
      return batch.result
    },
    freeze: (organizationId) => void frozen.add(organizationId),
    frozenCount: () => frozen.size,
  }

  /** Opens a batch that is flushed after the I/O of this turn. */
  function enqueue(first: Need): Promise<TopUpResult> {
    const { organizationId } = first
    const needs: Needs = [first]
    const result = afterIo().then(async () => {
      queued.delete(organizationId)
      const flushed = flush(needs)
      inFlight.set(
        organizationId,
        flushed.catch(() => undefined),
      )
      return flushed.finally(() => inFlight.delete(organizationId))
    })
    queued.set(organizationId, { needs, result })
    return result
  }

  function flush(needs: Needs): Promise<TopUpResult> {
    const latest = needs.at(-1) ?? needs[0]
    return latest.credits.sliceId === null ? open(latest, sliceRequestOf(needs)) : topUp(latest, sliceRequestOf(needs))
  }

  async function open({ organizationId, credits: { epoch } }: Need, request: SliceRequest): Promise<TopUpResult> {
    const id = parts.ids('slice')
    const opened = await parts.ledger.openSlice({ id, organizationId, epoch, holder: parts.holderOf(epoch) }, request)
    if (opened.result === 'insufficient') {
      exhausted.set(organizationId, opened.availableMicro)
      return 'exhausted'
    }
    if (opened.result === 'exists') return waitFor(opened.slice)
    await parts.failpoint('slice opened')
    const { amountMicro } = opened.slice
    const granted = await parts.limits.grant({
      organization: organizationId,
      epoch,
      sliceId: id,
      amountMicro,
      opens: true,
    })
    // The counters never had the slice, so nothing was spent from it.
    if (granted === 'taken' || granted === 'stale') await parts.ledger.closeSlice(id)
    return 'topped-up'
  }

  /**
   * The node that opened the slice may be about to grant it to the counters. If it does not within the timeout, the counters
   * have lost the slice, and it is retired.
   */
  async function waitFor({ id }: Slice): Promise<'topped-up'> {
    const nowMs = parts.clock.monotonicMs()
    const known = missing.get(id)
    // A slice that was last missed long ago has reached the counters since; otherwise the polling would have gone on.
    const sinceMs = known === undefined || nowMs - known.checkedMs > timeoutMs ? nowMs : known.sinceMs
    if (nowMs - sinceMs < timeoutMs) {
      if (missing.size > maxMissing) missing.clear()
      missing.set(id, { sinceMs, checkedMs: nowMs })
      await new Promise<void>((resolve) => parts.clock.after(pollMs, resolve))
    } else {
      missing.delete(id)
      await parts.ledger.retireSlice(id)
    }
    return 'topped-up'
  }

  async function topUp({ organizationId, credits }: Need, request: SliceRequest): Promise<TopUpResult> {
    const name = { organization: organizationId, epoch: credits.epoch, sliceId: credits.sliceId ?? '' }
    const toppedUp = await parts.ledger.topUpSlice(name.sliceId, request)
    if (toppedUp.result === 'retired') {
      await parts.limits.close(name)
      return 'topped-up'
    }
    await parts.failpoint('slice topped up')
    // Also if nothing was taken: another node may have topped up the slice and not granted it to the counters yet.
    await parts.limits.grant({ ...name, amountMicro: toppedUp.slice.amountMicro, opens: false })
    if (toppedUp.takenMicro > 0) return 'topped-up'
    exhausted.set(organizationId, toppedUp.availableMicro)
    return 'exhausted'
  }
}

/**
 * Requests enough for all needs, or at least for the smallest. What the counters have left is subtracted; a debt there is
 * added.
 */
function sliceRequestOf(needs: readonly Need[]): SliceRequest {
  const left = needs.at(-1)?.credits.leftMicro ?? 0
  const least = Math.min(...needs.map(({ micro }) => micro)) - left
  const all = needs.reduce((sum, { micro }) => sum + micro, 0) - left
  return { leastMicro: Math.max(0, least), wantedMicro: Math.max(0, all) }
}

const entryMs = 1_000
const maxEntries = 10_000

/**
 * Caches for a second that an organization's balance is used up, so that callers that keep retrying do not load the
 * database. A grant invalidates the entry at once.
 */
function createExhaustedBalanceCache({ clock, changes }: Pick<SliceAllocatorParts, 'clock' | 'changes'>) {
  const entries = new Map<
    string,
    { readonly availableMicro: number; readonly untilMs: number; readonly change: number }
  >()

  return {
    set(organizationId: string, availableMicro: number): void {
      if (entries.size >= maxEntries) entries.clear()
      const untilMs = clock.monotonicMs() + entryMs
      entries.set(organizationId, { availableMicro, untilMs, change: changes.latestOf(organizationId) })
    },
    /** True if the balance is known not to cover this need. */
    isExhaustedFor({ organizationId, micro, credits }: Need): boolean {
      const entry = entries.get(organizationId)
      if (entry === undefined) return false
      const isStale = clock.monotonicMs() >= entry.untilMs || changes.latestOf(organizationId) !== entry.change
      if (isStale) entries.delete(organizationId)
      return !isStale && micro - credits.leftMicro > entry.availableMicro
    },
  }
}

const frozenCredits = (): Fault =>
  new Fault('unavailable', 'credit_balance_unavailable', 'The credits of this organization are under investigation.', {
    retryAfterSeconds: 60,
  })
