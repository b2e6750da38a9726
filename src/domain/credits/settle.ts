import { isPromise } from '../../base/maybe-promise.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { isFault } from '../../base/fault.ts'
import type { Renewal, Subject } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { ChargeBacklog } from './backlog.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore, Settled } from './ledger-store.ts'

export type SettleParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly limits: Pick<LimitStore, 'settle' | 'leave' | 'close'>
  /** Where charges wait while the ledger is out of reach; null where it is on this very disk. */
  readonly backlog: ChargeBacklog | null
  readonly failpoint: Failpoint
  /** What became of every charge, for the figures. */
  readonly onCharge: (result: ChargeResult) => void
}

export const chargeResults = ['written', 'repeated', 'waiting', 'failed'] as const
export type ChargeResult = (typeof chargeResults)[number]

/** What is to be settled in the counters: whose request, how many tokens, and the slice's life. */
export type HeldCharge = Subject & { readonly requestId: string; readonly tokens: number; readonly epoch: string }

/** What the ledger said; null where the charge waits for it. */
export type Settle = (charge: Charge, held: HeldCharge) => Promise<Settled | null>

/**
 * The ledger first, then the counters: after a crash between the two the hold is still there, and whoever finds it asks
 * the ledger. The other way round a charge could be lost.
 */
export function createSettle({ ledger, limits, backlog, failpoint, onCharge }: SettleParts): Settle {
  return async (charge, { organization, project, key, requestId, tokens, epoch }) => {
    const request = { organization, project, key, requestId }
    const before = failpoint('answered')
    if (isPromise(before)) await before
    const recording = backlog === null ? ledger.settle(charge) : recordOrKeep(charge, backlog)
    const settled = await recording.catch((error: unknown) => failed(request, error))
    onCharge(settled === null ? 'waiting' : settled.isFirst ? 'written' : 'repeated')
    const after = failpoint('recorded')
    if (isPromise(after)) await after
    const micro = settled === null ? charge.micro : settled.micro
    const corrected = limits.settle({ ...request, tokens, micro })
    if (isPromise(corrected)) await corrected
    if (charge.sliceId !== null && settled?.isSliceOpen === false) {
      await limits.close({ organization, epoch, sliceId: charge.sliceId })
    }
    return settled
  }

  async function failed(request: Renewal, error: unknown): Promise<never> {
    onCharge('failed')
    await limits.leave(request)
    throw error
  }

  async function recordOrKeep(charge: Charge, waiting: ChargeBacklog): Promise<Settled | null> {
    try {
      return await ledger.settle(charge)
    } catch (error) {
      if (!isFault(error) || error.kind !== 'unavailable') throw error
    }
    // It may have been written all the same: the ledger takes one charge for each request.
    await waiting.add(charge)
    return null
  }
}
