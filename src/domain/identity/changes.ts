import { minuteMs, type Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'

/**
 * Tells when something of an organization changed, on this node or another. What is remembered about an organization carries
 * the count at which it was read. Once a later change was announced it is stale: it is read again before it is used, and
 * is used unread only while the database is out of reach, for a bounded time, and never if it is known to be revoked.
 */
export type Changes = {
  /** Changes announced so far. Taken before reading: a change during the read then makes the memory stale, never wrong. */
  count(): number
  /** The count at this organization's latest change. */
  latestOf(organizationId: string): number
  /** `revoked` names the keys that were revoked and the projects that were archived lately, at least those of this change. */
  announce(organizationId: string, revoked?: readonly string[]): void
  isRevoked(id: string): boolean
  /** Whether what was read before the latest change may be used where the read after it failed with this error. */
  mayUseStale(organizationId: string, error: unknown): boolean
}

/** How long after a change a node serves by what it knew before, where it cannot read the change. */
const maxStaleMs = 5 * minuteMs

/** More than an organization revokes within the time that stale knowledge is used. */
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
    mayUseStale(organizationId, error) {
      if (!isFault(error) || error.code !== 'storage_unavailable') return false
      const change = latest.get(organizationId)
      return change === undefined || clock.monotonicMs() - change.atMs < maxStaleMs
    },
  }
}

/**
 * Runs a change of one organization as one transaction: all that `work` does through its stores happens, or nothing.
 * Announced once durable, so it holds here at once and on other nodes within a second.
 */
export type ChangeOrganization<Stores> = <T>(organizationId: string, work: (stores: Stores) => Promise<T>) => Promise<T>
