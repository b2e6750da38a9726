import type { Failpoint } from '../../base/failpoint.ts'
import { isFault } from '../../base/fault.ts'
import { isPromise } from '../../base/maybe-promise.ts'
import type { Renewal, Subject } from '../limits/admission.ts'
import type { BudgetUse } from '../limits/budget-counters.ts'
import type { LimitStore } from '../limits/store.ts'
import type { ChargeBacklog } from './backlog.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore, Settled } from './ledger-store.ts'

export type SettleParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly limits: Pick<LimitStore, 'settle' | 'leave' | 'close'>
  /** Where charges wait while the ledger is unreachable; null for a ledger on the local disk. */
  readonly backlog: ChargeBacklog | null
  readonly failpoint: Failpoint
  /** Called with the result of every charge, for metrics. */
  readonly onCharge: (result: ChargeResult) => void
}

export const chargeResults = ['written', 'repeated', 'waiting', 'failed'] as const
export type ChargeResult = (typeof chargeResults)[number]

/** What the counters must settle: the request, its tokens, the epoch of its slice, and what it used of budgets. */
export type HeldCharge = Subject & {
  readonly requestId: string
  readonly tokens: number
  readonly epoch: string
  readonly budgets?: readonly BudgetUse[]
}

/** Resolves to the ledger's row, or to null if the charge waits in the backlog. */
export type Settle = (charge: Charge, held: HeldCharge) => Promise<Settled | null>

/**
 * Writes the ledger first, then the counters. After a crash between the two, the hold still exists, and the reconciler reads
 * the charge from the ledger. In the other order a charge could be lost.
 */
export function createSettle({ ledger, limits, backlog, failpoint, onCharge }: SettleParts): Settle {
  return async (charge, { organization, project, key, requestId, tokens, epoch, budgets }) => {
    const request = { organization, project, key, requestId }
    const before = failpoint('answered')
    if (before !== undefined) await before
    let settled: Settled | null
    try {
      settled = await (backlog === null ? ledger.settle(charge) : writeOrSpool(charge, backlog))
    } catch (error) {
      return failed({ ...request, tokens }, error)
    }
    onCharge(settled === null ? 'waiting' : settled.isFirst ? 'written' : 'repeated')
    const after = failpoint('recorded')
    if (after !== undefined) await after
    const micro = settled === null ? charge.micro : settled.micro
    const corrected = limits.settle({ ...request, tokens, micro, ...(budgets && { budgets }) })
    if (isPromise(corrected)) await corrected
    if (charge.sliceId !== null && settled?.isSliceOpen === false) {
      await limits.close({ organization, epoch, sliceId: charge.sliceId })
    }
    return settled
  }

  /** The caller gets an error in place of the answer, so a charge that was certainly not written costs nothing. */
  async function failed({ tokens, ...request }: Renewal & { tokens: number }, error: unknown): Promise<never> {
    onCharge('failed')
    if (mayBeWritten(error)) await limits.leave(request)
    else await limits.settle({ ...request, tokens, micro: 0, budgets: [] })
    throw error
  }

  async function writeOrSpool(charge: Charge, spool: ChargeBacklog): Promise<Settled | null> {
    try {
      return await ledger.settle(charge)
    } catch (error) {
      // The ledger may have written the charge although the call failed. It ignores a second charge for the same request.
      await spool.add(charge).catch(() => {
        throw error
      })
      return null
    }
  }
}

/** After a lost connection it is unknown whether the ledger has the charge. Its hold stays, and the reconciler ends it. */
const mayBeWritten = (error: unknown): boolean => isFault(error) && error.code === 'storage_unavailable'
