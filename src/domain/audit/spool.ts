import type { AuditEvent } from './event.ts'

/**
 * The port to a place on this node's own disk for events that the log could not take. They are appended again, by their
 * ids, once it can: doing so twice does no harm.
 */
export type AuditSpool = AsyncDisposable & {
  /** All of them or none; durable once resolved. */
  append(events: readonly AuditEvent[]): Promise<void>
  /** Oldest first; never more than `limit`. */
  read(limit: number): Promise<readonly AuditEvent[]>
  remove(ids: readonly string[]): Promise<void>
  count(): Promise<number>
}
