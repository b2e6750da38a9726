/** The port to a queue on the disk of this node, for items that the database could not take. */
export type Spool<T> = AsyncDisposable & {
  /** Stores all items or none; durable once resolved. An item that is stored already is left unchanged. */
  append(items: readonly T[]): Promise<void>
  /** Returns the oldest items, at most `limit`. */
  read(limit: number): Promise<readonly T[]>
  remove(items: readonly T[]): Promise<void>
  count(): Promise<number>
}

export type SpoolDrainParts<T> = {
  readonly spool: Spool<T>
  /** Writes the items to the database. Writing an item twice must be harmless. */
  readonly write: (items: readonly T[]) => Promise<unknown>
}

/** A spool whose items are written to the database once it can be reached again. */
export type DrainingSpool<T> = {
  add(items: readonly T[]): Promise<void>
  waiting(): number
  /** Tries to write all items. Returns false instead of failing if some still wait. */
  flush(): Promise<boolean>
  /** The same for a job: does nothing if no item waits, and rejects with the reason if the database does not take them. */
  retry(): Promise<void>
}

const batchSize = 500

/** Also takes the items that an earlier process left in the spool. */
export async function createDrainingSpool<T>({ spool, write }: SpoolDrainParts<T>): Promise<DrainingSpool<T>> {
  let waiting = await spool.count()
  let writing: Promise<boolean> | undefined

  async function writeAll(): Promise<boolean> {
    for (let items = await spool.read(batchSize); items.length > 0; items = await spool.read(batchSize)) {
      await write(items)
      await spool.remove(items)
    }
    waiting = await spool.count()
    return waiting === 0
  }

  const writeOnce = (): Promise<boolean> => (writing ??= writeAll().finally(() => (writing = undefined)))

  return {
    async add(items) {
      await spool.append(items)
      waiting += items.length
    },
    waiting: () => waiting,
    flush: () => writeOnce().catch(() => false),
    async retry() {
      if (waiting > 0) await writeOnce()
    },
  }
}
