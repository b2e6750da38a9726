import type { Clock } from '../../base/clock.ts'
import { everySoOften } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore, Settled } from './ledger-store.ts'
import type { Spool } from './spool.ts'

export type BacklogParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly spool: Spool
  readonly clock: Clock
  readonly failpoint: Failpoint
  readonly onChange?: (waiting: number) => void
}

/** Charges that wait for the ledger to come back. */
export type Backlog = Disposable & {
  /** While there is one, new charges go behind it. */
  isEmpty(): boolean
  /** Too many, or too old: nothing more may be begun that would have to be charged. */
  isFull(): boolean
  add(charge: Charge): Promise<void>
  waiting(): number
  /** Tries now, and answers whether all of it is written. */
  flush(): Promise<boolean>
}

const mostCharges = 10_000
/** Well before the holds of these requests are given up as orphans. */
const longestMs = 4 * 60_000
const tryEveryMs = 1_000
const together = 500

/** Takes up what an earlier life left behind. */
export async function createBacklog({ ledger, spool, clock, failpoint, onChange }: BacklogParts): Promise<Backlog> {
  let waiting = await spool.count()
  let sinceMs = clock.monotonicMs()
  let flushing: Promise<boolean> | undefined

  const changed = (count: number): void => {
    waiting = count
    onChange?.(count)
  }

  async function writeAll(): Promise<boolean> {
    for (let charges = await spool.read(together); charges.length > 0; charges = await spool.read(together)) {
      await Promise.all(charges.map((charge): Promise<Settled> => ledger.settle(charge)))
      await spool.remove(charges.map(({ requestId }) => requestId))
    }
    changed(await spool.count())
    return waiting === 0
  }

  const flush = (): Promise<boolean> => {
    flushing ??= writeAll()
      .catch(() => false) // it waits on
      .finally(() => (flushing = undefined))
    return flushing
  }
  const beat = everySoOften(clock, async () => waiting > 0 && flush(), tryEveryMs)

  return {
    isEmpty: () => waiting === 0,
    isFull: () => waiting >= mostCharges || (waiting > 0 && clock.monotonicMs() - sinceMs > longestMs),
    async add(charge) {
      if (waiting === 0) sinceMs = clock.monotonicMs()
      await spool.append(charge)
      changed(await spool.count())
      await failpoint('spooled')
    },
    waiting: () => waiting,
    flush,
    [Symbol.dispose]: () => beat[Symbol.dispose](),
  }
}
