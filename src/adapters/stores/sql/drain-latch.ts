import { DatabaseError } from './database.ts'

/** Admits work until it is closed, and waits for running work when it closes. */
export type DrainLatch = {
  enter<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once no work is running. */
  close(): Promise<void>
}

export function createDrainLatch(): DrainLatch {
  const drained = Promise.withResolvers<void>()
  let running = 0
  let isClosed = false
  return {
    async enter(work) {
      if (isClosed) throw new DatabaseError('unavailable', 'the database is closed')
      running++
      try {
        return await work()
      } finally {
        running--
        if (isClosed && running === 0) drained.resolve()
      }
    },
    async close() {
      isClosed = true
      if (running > 0) await drained.promise
    },
  }
}
