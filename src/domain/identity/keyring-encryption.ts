import type { Random } from '../../base/random.ts'
import { createEncryption, type Encryption } from '../../base/encryption.ts'
import type { Keyring } from './keyring.ts'

/** Encrypts for one purpose with the current server secret, and also decrypts what another accepted one encrypted. */
export type KeyringEncryption = Encryption & {
  /** Whether the value is encrypted with the current secret; false if only another accepted secret decrypts it. */
  isCurrent(sealed: Uint8Array, place: string): boolean
}

export function createKeyringEncryption(keyring: Keyring, purpose: string, random: Random): KeyringEncryption {
  const sealOf = (key: Uint8Array): Encryption => createEncryption(key, random)
  const current = (): Encryption => sealOf(keyring.current().key(purpose))
  return {
    encrypt: (text, place) => current().encrypt(text, place),
    decrypt(sealed, place) {
      let failure: unknown
      for (const { key } of keyring.accepted()) {
        try {
          return sealOf(key(purpose)).decrypt(sealed, place)
        } catch (error) {
          failure ??= error
        }
      }
      throw failure
    },
    isCurrent(sealed, place) {
      try {
        current().decrypt(sealed, place)
        return true
      } catch {
        return false
      }
    },
  }
}
