import type { Clock } from './clock.ts'
import { isFault } from './fault.ts'

/** The port to a queue on the disk of this node, for items that the database could not take. */
export type Spool<T> = AsyncDisposable & {
  idOf(item: T): string
  /** Stores all items or none; durable once resolved. An item that is stored already is left unchanged. */
  append(items: readonly T[]): Promise<void>
  /** Returns the oldest items, at most `limit`. */
  read(limit: number): Promise<readonly T[]>
  remove(items: readonly T[]): Promise<void>
  /** Counts the items that `read` returns. */
  count(): Promise<number>
  /** Keeps an item on the disk, but not among those that `read` returns. */
  setAside(item: T): Promise<void>
  /** Returns the items that were set aside to the queue. */
  restoreSetAside(): Promise<void>
}

export type SpoolDrainParts<T> = {
  readonly spool: Spool<T>
  /** Writes the items to the database. Writing an item twice must be harmless. */
  readonly write: (items: readonly T[]) => Promise<unknown>
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Called once for each item that is set aside, with the error of its last write. */
  readonly onSetAside: (id: string, cause: unknown) => void
}

/** A spool whose items are written to the database once it can be reached again. */
export type DrainingSpool<T> = {
  add(items: readonly T[]): Promise<void>
  waiting(): number
  /** Items that the database rejected for good. They stay on the disk and are tried again at the next start. */
  setAside(): number
  /** Tries to write all items. Returns false instead of failing if some still wait. */
  flush(): Promise<boolean>
  /** The same for a job: does nothing if no item waits, and rejects with the reason if the database does not take them. */
  retry(): Promise<void>
}

const batchSize = 500

/** An item that the database rejects for this long, other than by an outage, is set aside. */
const rejectedForMs = 60_000

/** Also takes the items that an earlier process left in the spool or set aside. */
export async function createDrainingSpool<T>(parts: SpoolDrainParts<T>): Promise<DrainingSpool<T>> {
  const { spool, write, clock, onSetAside } = parts
  await spool.restoreSetAside()
  let waiting = await spool.count()
  let setAside = 0
  let writing: Promise<boolean> | undefined
  /** When the database first rejected an item on its own, by id. */
  const rejectedSinceMs = new Map<string, number>()

  async function writeAll(): Promise<boolean> {
    const rejected = new Map<string, Error>()
    const readNext = async (): Promise<readonly T[]> => {
      const items = await spool.read(batchSize + rejected.size)
      return items.filter((item) => !rejected.has(spool.idOf(item)))
    }
    try {
      for (let items = await readNext(); items.length > 0; items = await readNext()) await writeBatch(items, rejected)
    } finally {
      waiting = await spool.count()
    }
    const [cause] = rejected.values()
    if (cause !== undefined) throw cause
    return waiting === 0
  }

  /** Writes the items one by one if the batch fails, so that one bad item does not block the others. */
  async function writeBatch(items: readonly T[], rejected: Map<string, Error>): Promise<void> {
    try {
      await write(items)
    } catch (error) {
      if (isOutage(error)) throw error
      for (const item of items) await writeAlone(item, rejected)
      return
    }
    await written(items)
  }

  async function writeAlone(item: T, rejected: Map<string, Error>): Promise<void> {
    try {
      await write([item])
    } catch (error) {
      if (isOutage(error)) throw error
      const id = spool.idOf(item)
      const sinceMs = rejectedSinceMs.get(id) ?? clock.monotonicMs()
      rejectedSinceMs.set(id, sinceMs)
      if (clock.monotonicMs() - sinceMs < rejectedForMs) return void rejected.set(id, asError(error))
      await spool.setAside(item)
      rejectedSinceMs.delete(id)
      setAside += 1
      onSetAside(id, error)
      return
    }
    await written([item])
  }

  async function written(items: readonly T[]): Promise<void> {
    await spool.remove(items)
    if (rejectedSinceMs.size > 0) for (const item of items) rejectedSinceMs.delete(spool.idOf(item))
  }

  const writeOnce = (): Promise<boolean> => (writing ??= writeAll().finally(() => (writing = undefined)))

  return {
    async add(items) {
      await spool.append(items)
      waiting += items.length
    },
    waiting: () => waiting,
    setAside: () => setAside,
    flush: () => writeOnce().catch(() => false),
    async retry() {
      if (waiting > 0) await writeOnce()
    },
  }
}

/**
 * Moves all items, and those that were set aside, to another spool. They are durable there before they are removed here, so an item
 * that is moved when the process dies is in both, and is written once.
 */
export async function moveSpool<T>(from: Spool<T>, to: Spool<T>): Promise<number> {
  let moved = 0
  await from.restoreSetAside()
  if ((await from.count()) === 0) return moved
  for (let items = await from.read(batchSize); items.length > 0; items = await from.read(batchSize)) {
    await to.append(items)
    await from.remove(items)
    moved += items.length
  }
  return moved
}

const isOutage = (error: unknown): boolean => isFault(error) && error.kind === 'unavailable'

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
