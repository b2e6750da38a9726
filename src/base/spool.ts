import { repeat, type Clock } from './clock.ts'

/** The port to a place on this node's own disk for what a server could not take. */
export type Spool<T> = AsyncDisposable & {
  /** All of them or none; durable once resolved. One that waits already is left as it is. */
  append(items: readonly T[]): Promise<void>
  /** Oldest first; never more than `limit`. */
  read(limit: number): Promise<readonly T[]>
  remove(items: readonly T[]): Promise<void>
  count(): Promise<number>
}

export type SpoolDrainParts<T> = {
  readonly spool: Spool<T>
  readonly clock: Clock
  /** Gives them to the server; doing so twice must do no harm. */
  readonly write: (items: readonly T[]) => Promise<unknown>
}

/** A spool that empties itself once the server is back. */
export type DrainingSpool<T> = Disposable & {
  add(items: readonly T[]): Promise<void>
  waiting(): number
  /** Tries now, and answers whether all of it is written. */
  flush(): Promise<boolean>
}

const tryEveryMs = 1_000
const together = 500

/** Takes up what an earlier life left behind. */
export async function createDrainingSpool<T>({ spool, clock, write }: SpoolDrainParts<T>): Promise<DrainingSpool<T>> {
  let waiting = await spool.count()
  let flushing: Promise<boolean> | undefined

  async function writeAll(): Promise<boolean> {
    for (let items = await spool.read(together); items.length > 0; items = await spool.read(together)) {
      await write(items)
      await spool.remove(items)
    }
    waiting = await spool.count()
    return waiting === 0
  }

  const flush = (): Promise<boolean> => {
    flushing ??= writeAll()
      .catch(() => false) // it waits on
      .finally(() => (flushing = undefined))
    return flushing
  }
  const beat = repeat(clock, async () => waiting > 0 && flush(), tryEveryMs)

  return {
    async add(items) {
      await spool.append(items)
      waiting += items.length
    },
    waiting: () => waiting,
    flush,
    [Symbol.dispose]: () => beat[Symbol.dispose](),
  }
}
