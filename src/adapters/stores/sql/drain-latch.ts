import { DatabaseError } from './database.ts'

/** Lets work in until it is closed, and knows when the last of it has left. */
export type DrainLatch = {
  enter<T>(work: () => Promise<T>): Promise<T>
  /** Resolves once nobody is inside any more. */
  close(): Promise<void>
}

export function createDrainLatch(): DrainLatch {
  const emptied = Promise.withResolvers<void>()
  let inside = 0
  let isClosed = false
  return {
    async enter(work) {
      if (isClosed) throw new DatabaseError('unavailable', 'the database is closed')
      inside++
      try {
        return await work()
      } finally {
        inside--
        if (isClosed && inside === 0) emptied.resolve()
      }
    },
    async close() {
      isClosed = true
      if (inside > 0) await emptied.promise
    },
  }
}
