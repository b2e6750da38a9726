import type { Charge } from './charge.ts'

/**
 * The port to a place on this node's own disk for charges that the ledger could not take. They are written again, by
 * request id, once it can: doing so twice does no harm.
 */
export type Spool = AsyncDisposable & {
  /** Durable once resolved. */
  append(charge: Charge): Promise<void>
  /** Oldest first; never more than `limit`. */
  read(limit: number): Promise<readonly Charge[]>
  remove(requestIds: readonly string[]): Promise<void>
  count(): Promise<number>
}
