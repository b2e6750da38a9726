import type { Failpoint } from '../../base/failpoint.ts'
import { isFault } from '../../base/fault.ts'
import type { Subject } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { Backlog } from './backlog.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore, Settled } from './ledger-store.ts'

export type SettleParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly limits: Pick<LimitStore, 'settle' | 'close'>
  /** Where charges wait while the ledger is out of reach; null where it is on this very disk. */
  readonly backlog: Backlog | null
  readonly failpoint: Failpoint
}

/** What is to be settled in the counters: whose request, how many tokens, and the slice's life. */
export type Held = Subject & { readonly requestId: string; readonly tokens: number; readonly epoch: string }

/** What the ledger said; null where the charge waits for it. */
export type Settle = (charge: Charge, held: Held) => Promise<Settled | null>

/**
 * The ledger first, then the counters: after a crash between the two the hold is still there, and whoever finds it asks
 * the ledger. The other way round a charge could be lost.
 */
export function createSettle({ ledger, limits, backlog, failpoint }: SettleParts): Settle {
  return async (charge, { epoch, tokens, ...request }) => {
    await failpoint('answered')
    const settled = await record(charge)
    await failpoint('recorded')
    const micro = settled === null ? charge.micro : settled.micro
    await limits.settle({ ...request, tokens, micro })
    if (charge.sliceId !== null && settled?.isSliceOpen === false) {
      await limits.close({ organization: request.organization, epoch, sliceId: charge.sliceId })
    }
    return settled
  }

  async function record(charge: Charge): Promise<Settled | null> {
    if (backlog === null) return ledger.settle(charge)
    if (backlog.isEmpty()) {
      try {
        return await ledger.settle(charge)
      } catch (error) {
        if (!isFault(error) || error.kind !== 'unavailable') throw error
      }
    }
    await backlog.add(charge)
    return null
  }
}
