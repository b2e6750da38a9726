import { minuteMs, type Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'

/**
 * Invalidates cached data of an organization after a change on any node. A cache entry carries the count of changes at
 * which it was read. After a later change it is stale and is read again before use. While the database is unreachable a
 * stale entry may be used for a bounded time, but never if its key is known to be revoked.
 */
export type Changes = {
  /** Number of changes announced so far. Take it before a read: a change during the read then makes the entry stale. */
  count(): number
  /** The count at the organization's latest change. */
  latestOf(organizationId: string): number
  /**
   * `revoked`: ids of recently revoked keys and archived projects, and names of secrets that a rotation ended, at least
   * those of this change.
   */
  announce(organizationId: string, revoked?: readonly string[]): void
  isRevoked(id: string): boolean
  /** For an archived project that a later read found active again. */
  restore(id: string): void
  /** Whether an entry from before the latest change may be used after the next read failed with this error. */
  mayUseStale(organizationId: string, error: unknown): boolean
}

/** How long a node may use stale entries after a change that it cannot read. */
const maxStaleMs = 5 * minuteMs

/** More than an organization revokes within `maxStaleMs`. */
const maxRevoked = 100_000

export function createChanges(clock: Pick<Clock, 'monotonicMs'>): Changes {
  const latest = new Map<string, { readonly count: number; readonly atMs: number }>()
  const revokedIds = new Set<string>()
  let count = 0
  return {
    count: () => count,
    latestOf: (organizationId) => latest.get(organizationId)?.count ?? 0,
    announce(organizationId, revoked = []) {
      for (const id of revoked) {
        revokedIds.add(id)
        if (revokedIds.size > maxRevoked) revokedIds.delete(revokedIds.values().next().value ?? '')
      }
      latest.set(organizationId, { count: ++count, atMs: clock.monotonicMs() })
    },
    isRevoked: (id) => revokedIds.has(id),
    restore: (id) => void revokedIds.delete(id),
    mayUseStale(organizationId, error) {
      if (!isFault(error) || error.code !== 'storage_unavailable') return false
      const change = latest.get(organizationId)
      return change === undefined || clock.monotonicMs() - change.atMs < maxStaleMs
    },
  }
}

/** Names one secret of a key. */
export const secretName = (keyId: string, secretNumber: number): string => `${keyId} ${secretNumber}`

/**
 * Runs a change of one organization in one transaction. The change is announced after the commit: it takes effect on this
 * node at once and on other nodes within a second.
 */
export type ChangeOrganization<Stores> = <T>(organizationId: string, work: (stores: Stores) => Promise<T>) => Promise<T>
