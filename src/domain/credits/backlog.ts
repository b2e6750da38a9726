import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { createDrainingSpool, type DrainingSpool, type Spool } from '../../base/spool.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore } from './ledger-store.ts'

export type ChargeBacklogParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly spool: Spool<Charge>
  readonly clock: Clock
  readonly failpoint: Failpoint
}

/** Charges that wait for the ledger to come back. */
export type ChargeBacklog = Omit<DrainingSpool<Charge>, 'add'> & {
  isEmpty(): boolean
  /** Too many, or too old: nothing more may be begun that would have to be charged. */
  isFull(): boolean
  add(charge: Charge): Promise<void>
}

const mostCharges = 10_000
/** Well before the holds of these requests are given up as orphans. */
const longestMs = 4 * 60_000

export async function createChargeBacklog({
  ledger,
  spool,
  clock,
  failpoint,
}: ChargeBacklogParts): Promise<ChargeBacklog> {
  const write = (charges: readonly Charge[]) => Promise.all(charges.map((charge) => ledger.settle(charge)))
  const { add, ...kept } = await createDrainingSpool({ spool, write })
  const { waiting } = kept
  let sinceMs = clock.monotonicMs()

  return {
    ...kept,
    isEmpty: () => waiting() === 0,
    isFull: () => waiting() >= mostCharges || (waiting() > 0 && clock.monotonicMs() - sinceMs > longestMs),
    async add(charge) {
      if (waiting() === 0) sinceMs = clock.monotonicMs()
      await add([charge])
      await failpoint('spooled')
    },
  }
}
