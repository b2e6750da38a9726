import { createDigest } from './key-format.ts'
import type { Keyring } from '../server-secret/keyring.ts'

/** What is stored of a key: its digest, and the id of the server secret that the digest was made with. */
export type StoredDigest = { readonly digest: string; readonly secretId: string }

export type KeyDigests = {
  /** Under the current server secret. */
  current(key: string): StoredDigest
  /** Under the other accepted secrets, in the order in which to try them. */
  others(key: string): readonly (StoredDigest & { readonly isPrevious: boolean })[]
  onChange: Keyring['onChange']
}

const purpose = 'key pepper'

export function createKeyDigests(keyring: Keyring): KeyDigests {
  const digestOf = (pepper: Uint8Array, key: string): string => createDigest(pepper)(key)
  return {
    current(key) {
      const secret = keyring.current()
      return { digest: digestOf(secret.key(purpose), key), secretId: secret.id }
    },
    others: (key) =>
      keyring
        .accepted()
        .slice(1)
        .map((secret) => ({
          digest: digestOf(secret.key(purpose), key),
          secretId: secret.id,
          isPrevious: secret.role === 'previous',
        })),
    onChange: keyring.onChange,
  }
}
