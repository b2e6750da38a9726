import type { Clock } from '../../base/clock.ts'
import type { Changes } from './changes.ts'

const maxRemembered = 20_000

export type Known<T> = {
  readonly who: T
  /** The count of changes when its rows were read. */
  readonly readAt: number
  readonly expiresAtMs: number | null
  touchedAtMs: number
}

/** Credentials by their text: the digest and the look-up are paid once, not per request. */
export function createCredentialMemory<T extends { readonly organization: { readonly id: string } }>(
  clock: Clock,
  changes: Changes,
) {
  const memory = new Map<string, Known<T>>()

  const isFresh = (known: Known<T>): boolean =>
    changes.latestOf(known.who.organization.id) <= known.readAt &&
    (known.expiresAtMs === null || known.expiresAtMs > clock.nowMs())

  return {
    recall(secret: string | undefined): Known<T> | undefined {
      if (secret === undefined) return undefined
      const known = memory.get(secret)
      if (!known || isFresh(known)) return known
      memory.delete(secret)
      return undefined
    },
    remember(secret: string, known: Known<T>): Known<T> {
      memory.set(secret, known)
      if (memory.size > maxRemembered) memory.delete(memory.keys().next().value ?? '')
      return known
    },
  }
}
