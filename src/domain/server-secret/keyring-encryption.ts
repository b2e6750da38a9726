import type { Random } from '../../base/random.ts'
import { createEncryption, type Encryption } from '../../base/encryption.ts'
import type { Keyring } from './keyring.ts'

/** Encrypts for one purpose with the current server secret, and also decrypts what another accepted one encrypted. */
export type KeyringEncryption = Encryption & {
  /** Whether the value is encrypted with the current secret; false if only another accepted secret decrypts it. */
  isCurrent(encrypted: Uint8Array, context: string): boolean
}

export function createKeyringEncryption(keyring: Keyring, purpose: string, random: Random): KeyringEncryption {
  const encryptionWith = (key: Uint8Array): Encryption => createEncryption(key, random)
  const current = (): Encryption => encryptionWith(keyring.current().key(purpose))
  return {
    encrypt: (text, context) => current().encrypt(text, context),
    decrypt(encrypted, context) {
      let failure: unknown
      for (const { key } of keyring.accepted()) {
        try {
          return encryptionWith(key(purpose)).decrypt(encrypted, context)
        } catch (error) {
          failure ??= error
        }
      }
      throw failure
    },
    isCurrent(encrypted, context) {
      try {
        current().decrypt(encrypted, context)
        return true
      } catch {
        return false
      }
    },
  }
}
