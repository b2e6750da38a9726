import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { afterIo } from '../../base/after-io.ts'
import type { Changes } from '../identity/changes.ts'
import type { LimitStore } from '../limits/store.ts'
import { createExhaustedBalanceCache } from './exhausted-balance-cache.ts'
import type { LedgerStore, Slice, SliceRequest } from './ledger-store.ts'
import { sliceRequestOf, type Need } from './need.ts'

export type SliceAllocatorParts = {
  readonly ledger: Pick<LedgerStore, 'openSlice' | 'raiseSlice' | 'retireSlice' | 'closeSlice'>
  readonly limits: Pick<LimitStore, 'grant' | 'close'>
  /** Whether a life of counters is this node's own, or shared by all. */
  readonly holderOf: (epoch: string) => Slice['holder']
  readonly changes: Pick<Changes, 'latestOf'>
  readonly ids: Ids
  readonly clock: Clock
  readonly failpoint: Failpoint
}

/** Moves credits from the ledger to the counters as requests need them. */
export type SliceAllocator = {
  /** `raised`: ask the counters again. `dry`: the ledger has nothing for it, unless somebody else just took it. */
  raise(need: Need): Promise<'raised' | 'dry'>
  /** From now on nothing is handed out to this organization: its sums do not add up, and somebody must look. */
  freeze(organizationId: string): void
  frozenCount(): number
}

/** How long another node may take between the ledger and the counters before its slice counts as lost. */
const timeoutMs = 1_000
const lookAgainMs = 20
const mostMissing = 1_000

type Answer = 'raised' | 'dry'
type Needs = [Need, ...Need[]]

/** One step of the ledger for all of an organization's needs that arrive in one turn. */
export function createSliceAllocator(parts: SliceAllocatorParts): SliceAllocator {
  const boarding = new Map<string, { readonly needs: Needs; readonly answer: Promise<Answer> }>()
  const underWay = new Map<string, Promise<unknown>>()
  const frozen = new Set<string>()
  const drought = createExhaustedBalanceCache(parts)
  const missing = new Map<string, { readonly sinceMs: number; readonly lookedMs: number }>() // in the ledger only

  return {
    async raise(need) {
      const { organizationId } = need
      if (frozen.has(organizationId)) throw outOfOrder()
      if (drought.covers(need)) return 'dry'
      const earlier = underWay.get(organizationId)
      if (earlier !== undefined) return earlier.then(() => 'raised') // what the counters had is no longer true
      const joined = boarding.get(organizationId)
      if (joined === undefined) return depart(need)
      joined.needs.push(need)
      return joined.answer
    },
    freeze: (organizationId) => void frozen.add(organizationId),
    frozenCount: () => frozen.size,
  }

  function depart(first: Need): Promise<Answer> {
    const { organizationId } = first
    const needs: Needs = [first]
    const answer = afterIo().then(async () => {
      boarding.delete(organizationId)
      const moving = move(needs)
      underWay.set(
        organizationId,
        moving.catch(() => undefined),
      )
      return moving.finally(() => underWay.delete(organizationId))
    })
    boarding.set(organizationId, { needs, answer })
    return answer
  }

  function move(needs: Needs): Promise<Answer> {
    const latest = needs.at(-1) ?? needs[0]
    return latest.standing.sliceId === null ? open(latest, sliceRequestOf(needs)) : raise(latest, sliceRequestOf(needs))
  }

  async function open({ organizationId, standing: { epoch } }: Need, wish: SliceRequest): Promise<Answer> {
    const id = parts.ids('slice')
    const opened = await parts.ledger.openSlice({ id, organizationId, epoch, holder: parts.holderOf(epoch) }, wish)
    if (opened.result === 'insufficient') {
      drought.note(organizationId, opened.availableMicro)
      return 'dry'
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
    // Never in the counters, so that nothing can have been spent of it.
    if (granted === 'taken' || granted === 'stale') await parts.ledger.closeSlice(id)
    return 'raised'
  }

  /** Whoever opened it may be about to tell the counters. If not, the counters have lost it, and it must rest. */
  async function waitFor({ id }: Slice): Promise<'raised'> {
    const nowMs = parts.clock.monotonicMs()
    const known = missing.get(id)
    // One that was missed long ago was found since, or nobody would have stopped looking.
    const sinceMs = known === undefined || nowMs - known.lookedMs > timeoutMs ? nowMs : known.sinceMs
    if (nowMs - sinceMs < timeoutMs) {
      if (missing.size > mostMissing) missing.clear()
      missing.set(id, { sinceMs, lookedMs: nowMs })
      await new Promise<void>((resolve) => parts.clock.after(lookAgainMs, resolve))
    } else {
      missing.delete(id)
      await parts.ledger.retireSlice(id)
    }
    return 'raised'
  }

  async function raise({ organizationId, standing }: Need, wish: SliceRequest): Promise<Answer> {
    const name = { organization: organizationId, epoch: standing.epoch, sliceId: standing.sliceId ?? '' }
    const raised = await parts.ledger.raiseSlice(name.sliceId, wish)
    if (raised.result === 'retired') {
      await parts.limits.close(name)
      return 'raised'
    }
    await parts.failpoint('slice raised')
    // Also where nothing was taken: another node may have taken it and not told the counters yet.
    await parts.limits.grant({ ...name, amountMicro: raised.slice.amountMicro, opens: false })
    if (raised.takenMicro > 0) return 'raised'
    drought.note(organizationId, raised.availableMicro)
    return 'dry'
  }
}

const outOfOrder = (): Fault =>
  new Fault('unavailable', 'credit_balance_unavailable', 'The credits of this organization are being looked into.', {
    retryAfterSeconds: 60,
  })
