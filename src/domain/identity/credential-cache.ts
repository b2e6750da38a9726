import type { Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import type { Changes } from '../mutations/changes.ts'

const maxEntries = 20_000

export type KnownCredential<T> = {
  readonly value: T
  /** The count of changes when the rows were read. */
  readonly readAt: number
  readonly expiresAtMs: number | null
  /** The name of a key's secret in `Changes`: a rotation can end one secret of a key and not the other. */
  readonly secretName?: string
  touchedAtMs: number
}

/** A cached value that becomes invalid when it is revoked or its project is archived. */
type Revocable = {
  readonly id: string
  readonly projectId?: string
  readonly organization: { readonly id: string }
}

export type CredentialCacheParts = {
  readonly clock: Clock
  readonly changes: Changes
  /** The error for a credential that is known to be revoked. */
  readonly invalid: () => Fault
}

/** Caches credentials by their text, so that a request needs neither a digest nor a lookup. */
export function createCredentialCache<T extends Revocable>({ clock, changes, invalid }: CredentialCacheParts) {
  const entries = new Map<string, KnownCredential<T>>()

  const isExpired = ({ expiresAtMs }: KnownCredential<T>): boolean =>
    expiresAtMs !== null && expiresAtMs <= clock.nowMs()
  const isCurrent = ({ value, readAt }: KnownCredential<T>): boolean =>
    changes.latestOf(value.organization.id) <= readAt
  const isRevoked = ({ value: { id, projectId }, secretName }: KnownCredential<T>): boolean =>
    [id, projectId, secretName].some((name) => name !== undefined && changes.isRevoked(name))

  function set(secret: string, known: KnownCredential<T>): KnownCredential<T> {
    entries.set(secret, known)
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value ?? '')
    return known
  }

  return {
    /** The entry, unless it is stale or expired. */
    get(secret: string | undefined): KnownCredential<T> | undefined {
      if (secret === undefined) return undefined
      const known = entries.get(secret)
      return known !== undefined && isCurrent(known) && !isExpired(known) ? known : undefined
    },
    clear: () => entries.clear(),
    set,
    /** Reads the entry again. While the database is unreachable a stale entry is used for a bounded time, unless it is revoked. */
    async refresh(secret: string, read: () => Promise<KnownCredential<T>>): Promise<KnownCredential<T>> {
      try {
        const known = set(secret, await read())
        const { id, projectId } = known.value
        // The project is active again, or the member is no longer suspended.
        if (isCurrent(known)) for (const active of [id, projectId]) if (active !== undefined) changes.restore(active)
        return known
      } catch (error) {
        const known = entries.get(secret)
        if (known === undefined) throw error
        if (isRevoked(known)) throw invalid()
        if (!isExpired(known) && changes.mayUseStale(known.value.organization.id, error)) return known
        entries.delete(secret)
        throw error
      }
    },
  }
}
