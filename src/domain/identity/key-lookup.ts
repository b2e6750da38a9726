import type { Clock } from '../../base/clock.ts'
import { invalidCredential } from './credential-faults.ts'
import type { KeyDigests, StoredDigest } from './key-digests.ts'
import type { KeyDenialReason, OnKeyDenied } from './key-denial.ts'
import type { Read } from './lookups.ts'
import type { Administrator, Principal } from './principal.ts'
import type { CredentialStore, FoundKey } from './store.ts'

export type KeyDates = {
  readonly id: string
  readonly revokedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly lastUsedAtMs: number | null
}

/** Why a key does not work; undefined if it does. */
function invalidityOf(row: FoundKey<KeyDates>, nowMs: number): KeyDenialReason | undefined {
  if (row.key.revokedAtMs !== null) return 'revoked'
  if (row.isArchived) return 'project_archived'
  return (expiryOf(row) ?? Infinity) <= nowMs ? 'expired' : undefined
}

/** The secret expires with its key, or before if a rotation replaced it. */
export function expiryOf({ key, secretExpiresAtMs }: FoundKey<KeyDates>): number | null {
  if (key.expiresAtMs === null || secretExpiresAtMs === null) return key.expiresAtMs ?? secretExpiresAtMs
  return Math.min(key.expiresAtMs, secretExpiresAtMs)
}

/** A key as a caller sent it. `own`: its digest under the current server secret. */
export type PresentedKey = { readonly text: string; readonly own: StoredDigest }

type KeyTable<K> = {
  readonly kind: 'api_key' | 'admin_key'
  readonly address: string
  readonly find: (digest: string) => Promise<Read<FoundKey<K>>>
  readonly credentialOf: (row: FoundKey<K>) => Principal | Administrator
}

type KeyLookupParts = {
  readonly clock: Clock
  readonly onDenied: OnKeyDenied
  readonly search: ReturnType<typeof createKeySearch>
  readonly rejected: RejectedSecrets
}

/** Finds a key that is not cached, and rejects it if it does not work. */
export function createKeyLookup({ search, rejected, clock, onDenied }: KeyLookupParts) {
  return async <K extends KeyDates>(
    key: PresentedKey,
    table: KeyTable<K>,
  ): Promise<{ row: FoundKey<K>; readAt: number }> => {
    const { value: row, readAt } = await search(key, table)
    const reason = row && invalidityOf(row, clock.nowMs())
    if (row && reason === undefined) return { row, readAt }
    const credential = row && table.credentialOf(row)
    if (!row || reason === 'revoked') rejected.set(key.own.digest, { revoked: credential })
    if (credential && reason) onDenied(credential, { address: table.address, reason })
    throw invalidCredential()
  }
}

type KeySearchParts = {
  readonly store: Pick<CredentialStore, 'replaceDigest'>
  readonly digests: KeyDigests
  readonly onFailed: (error: unknown) => void
}

/** Finds a key by its digest under the current server secret, then under the others that are accepted. */
export function createKeySearch({ store, digests, onFailed }: KeySearchParts) {
  return async <K extends { readonly id: string }>(
    { text, own }: PresentedKey,
    { kind, find }: Pick<KeyTable<K>, 'kind' | 'find'>,
  ): Promise<Read<FoundKey<K>>> => {
    let read = await find(own.digest)
    let from: StoredDigest & { readonly isPrevious: boolean } = { ...own, isPrevious: true }
    for (const other of read.value ? [] : digests.others(text)) {
      read = await find(other.digest)
      from = other
      if (read.value) break
    }
    const { value: row } = read
    // A digest under the next secret is kept, because two nodes must not rewrite one another's digests.
    if (row && from.isPrevious && row.secretId !== own.secretId) {
      store.replaceDigest({ kind, id: row.key.id, from: from.digest }, own).catch(onFailed)
    }
    return read
  }
}

const maxDigests = 10_000

/**
 * Digests of secrets that were looked up without success, so that a repeated attempt needs no query. Such a secret never
 * becomes valid: new secrets are random, and a revocation is final. Expired secrets are not included, because the clock
 * that found them expired can be wrong.
 */
export type RejectedSecrets = {
  get(digest: string): RejectedSecret | undefined
  set(digest: string, secret: RejectedSecret): void
}

/** `revoked`: the key, if there was one. */
type RejectedSecret = { readonly revoked: Principal | Administrator | undefined }

export function createRejectedSecrets(): RejectedSecrets {
  const digests = new Map<string, RejectedSecret>()
  return {
    get: (digest) => digests.get(digest),
    set(digest, secret) {
      digests.set(digest, secret)
      if (digests.size > maxDigests) digests.delete(digests.keys().next().value ?? '') // evicts the oldest
    },
  }
}
