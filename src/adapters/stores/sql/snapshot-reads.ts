import type { Transaction } from './database.ts'

/** Reads that can share a state of the database, while others write. */
export type SnapshotReads = {
  /** One statement, which sees what is committed when it starts. */
  readonly query: Transaction['query']
  /** All statements of `work` see the same state. */
  snapshot<T>(work: (query: Transaction['query']) => Promise<T>): Promise<T>
}
