import type { KeyDigests, StoredDigest } from './key-digests.ts'
import type { Read } from './lookups.ts'
import type { CredentialStore, FoundKey } from './store.ts'

/** A key as a caller sent it. `own`: its digest under the current server secret. */
export type PresentedKey = { readonly text: string; readonly own: StoredDigest }

export type KeyTable<K> = {
  readonly kind: 'api_key' | 'admin_key'
  readonly find: (digest: string) => Promise<Read<FoundKey<K>>>
}

export type KeySearchParts = {
  readonly store: Pick<CredentialStore, 'replaceDigest'>
  readonly digests: KeyDigests
  readonly onFailed: (error: unknown) => void
}

/** Finds a key by its digest under the current server secret, then under the others that are accepted. */
export function createKeySearch({ store, digests, onFailed }: KeySearchParts) {
  return async <K extends { readonly id: string }>(
    { text, own }: PresentedKey,
    { kind, find }: KeyTable<K>,
  ): Promise<Read<FoundKey<K>>> => {
    let read = await find(own.digest)
    let from: StoredDigest & { readonly isPrevious: boolean } = { ...own, isPrevious: true }
    for (const other of read.found ? [] : digests.others(text)) {
      read = await find(other.digest)
      from = other
      if (read.found) break
    }
    const { found } = read
    // A digest under the next secret is kept, because two nodes must not rewrite one another's digests.
    if (found && from.isPrevious && found.secretId !== own.secretId) {
      store.replaceDigest({ kind, id: found.key.id, from: from.digest }, own).catch(onFailed)
    }
    return read
  }
}
