import { createDigest } from './key-format.ts'
import type { Keyring } from './keyring.ts'

/** What is stored of a key: its digest, and under which server secret that was made. */
export type StoredDigest = { readonly digest: string; readonly secretId: string }

export type KeyDigests = {
  /** Under the current server secret. */
  current(key: string): StoredDigest
  /** Under the others that are accepted, in the order in which they are to be tried. */
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
