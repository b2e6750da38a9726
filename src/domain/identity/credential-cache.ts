import type { Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import type { Changes } from './changes.ts'

const maxRemembered = 20_000

export type KnownCredential<T> = {
  readonly who: T
  /** The count of changes when its rows were read. */
  readonly readAt: number
  readonly expiresAtMs: number | null
  touchedAtMs: number
}

/** What can be revoked: itself, and its project with all that is in it. */
type Revocable = {
  readonly id: string
  readonly projectId?: string
  readonly organization: { readonly id: string }
}

export type CredentialCacheParts = {
  readonly clock: Clock
  readonly changes: Changes
  /** The refusal of a credential that is known to be revoked. */
  readonly invalid: () => Fault
}

/** Credentials by their text: the digest and the look-up are paid once, not per request. */
export function createCredentialCache<T extends Revocable>({ clock, changes, invalid }: CredentialCacheParts) {
  const memory = new Map<string, KnownCredential<T>>()

  const isExpired = ({ expiresAtMs }: KnownCredential<T>): boolean =>
    expiresAtMs !== null && expiresAtMs <= clock.nowMs()
  const isCurrent = ({ who, readAt }: KnownCredential<T>): boolean => changes.latestOf(who.organization.id) <= readAt
  const isRevoked = ({ who: { id, projectId } }: KnownCredential<T>): boolean =>
    changes.isRevoked(id) || (projectId !== undefined && changes.isRevoked(projectId))

  function remember(secret: string, known: KnownCredential<T>): KnownCredential<T> {
    memory.set(secret, known)
    if (memory.size > maxRemembered) memory.delete(memory.keys().next().value ?? '')
    return known
  }

  return {
    /** What is known and not stale. */
    recall(secret: string | undefined): KnownCredential<T> | undefined {
      if (secret === undefined) return undefined
      const known = memory.get(secret)
      return known !== undefined && isCurrent(known) && !isExpired(known) ? known : undefined
    },
    clear: () => memory.clear(),
    remember,
    /** Reads it again. Where the database is out of reach, what is stale serves for a bounded time, unless it is revoked. */
    async refresh(secret: string, read: () => Promise<KnownCredential<T>>): Promise<KnownCredential<T>> {
      try {
        return remember(secret, await read())
      } catch (error) {
        const known = memory.get(secret)
        if (known === undefined) throw error
        if (isRevoked(known)) throw invalid()
        if (!isExpired(known) && changes.mayUseStale(known.who.organization.id, error)) return known
        memory.delete(secret)
        throw error
      }
    },
  }
}
