import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import { createDrainingSpool, type DrainingSpool, type Spool, type SpoolDrainParts } from '../../base/spool.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore } from './ledger-store.ts'

export type ChargeBacklogParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly spool: Spool<Charge>
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly onSetAside: SpoolDrainParts<Charge>['onSetAside']
}

/** Charges that wait on disk until the ledger is reachable again. */
export type ChargeBacklog = Omit<DrainingSpool<Charge>, 'add'> & {
  isEmpty(): boolean
  /** True if there are too many charges or the oldest is too old: then no further paid request may start. */
  isFull(): boolean
  add(charge: Charge): Promise<void>
}

const maxCharges = 10_000
/** Well before the reconciler ends the holds of these requests as orphans. */
const maxAgeMs = 4 * 60_000

export async function createChargeBacklog({
  ledger,
  spool,
  clock,
  failpoint,
  onSetAside,
}: ChargeBacklogParts): Promise<ChargeBacklog> {
  const write = (charges: readonly Charge[]) => Promise.all(charges.map((charge) => ledger.settle(charge)))
  const { add, ...kept } = await createDrainingSpool({ spool, write, clock, onSetAside })
  const { waiting } = kept
  let sinceMs = clock.monotonicMs()

  return {
    ...kept,
    isEmpty: () => waiting() === 0,
    isFull: () => waiting() >= maxCharges || (waiting() > 0 && clock.monotonicMs() - sinceMs > maxAgeMs),
    async add(charge) {
      if (waiting() === 0) sinceMs = clock.monotonicMs()
      await add([charge])
      await failpoint('spooled')
    },
  }
}
