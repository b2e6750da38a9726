/** Work of many submitters with bounded concurrency, in batches. */
export type FairBatches<Item, Result> = {
  /** Resolves with the result for this item. `from` names the submitter: each of them gets its share of every batch. */
  submit(from: string, item: Item): Promise<Result>
}

export type FairBatchesOptions<Item, Result> = {
  readonly maxConcurrent: number
  readonly maxBatch: number
  /** Items of one submitter that may wait. */
  readonly maxWaiting: number
  /** Returns one result for each item, in the same order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>
  /** Makes the error of an item that is submitted while `maxWaiting` others of its submitter wait. */
  readonly overflow: () => Error
}

type Waiter<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * An item starts at once while fewer than `maxConcurrent` batches run. Otherwise it waits, and the next batch takes one
 * item of each submitter in turn, so that a submitter with thousands of items delays the others by one batch only.
 */
export function createFairBatches<Item, Result>(options: FairBatchesOptions<Item, Result>): FairBatches<Item, Result> {
  /** In the order in which submitters are served. */
  const queues = new Map<string, Queue<Waiter<Item, Result>>>()
  let waiting = 0
  let running = 0

  function nextBatch(): Waiter<Item, Result>[] {
    const batch: Waiter<Item, Result>[] = []
    for (const [from, queue] of queues) {
      if (batch.length === options.maxBatch) break
      batch.push(queue.items[queue.next++] as Waiter<Item, Result>)
      queues.delete(from)
      // A Map iterates over what is added during the iteration, so this submitter is served again in the same batch.
      if (queue.next < queue.items.length) queues.set(from, compacted(queue))
    }
    waiting -= batch.length
    return batch
  }

  async function runNext(): Promise<void> {
    running++
    const batch = nextBatch()
    try {
      const results = await options.run(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    running--
    if (waiting > 0) void runNext()
  }

  return {
    submit(from, item) {
      const queue = queues.get(from) ?? { items: [], next: 0 }
      if (queue.items.length - queue.next >= options.maxWaiting) return Promise.reject(options.overflow())
      return new Promise((resolve, reject) => {
        queue.items.push({ item, resolve, reject })
        queues.set(from, queue)
        waiting++
        if (running < options.maxConcurrent) void runNext()
      })
    },
  }
}

/** A list with the index of its first item: `shift` on a long array copies the array. */
type Queue<T> = { items: T[]; next: number }

const compactAfter = 1_000

function compacted<T>(queue: Queue<T>): Queue<T> {
  if (queue.next < compactAfter) return queue
  return { items: queue.items.slice(queue.next), next: 0 }
}
