import type { Random } from '../../base/random.ts'
import { createSeal, type Seal } from '../../base/seal.ts'
import type { Keyring } from './keyring.ts'

/** Encrypts for one purpose with the current server secret, and also decrypts what another accepted one encrypted. */
export type KeyringSeal = Seal & {
  /** Whether it is encrypted with the current secret; false where only another accepted one decrypts it. */
  isCurrent(sealed: Uint8Array, place: string): boolean
}

export function createKeyringSeal(keyring: Keyring, purpose: string, random: Random): KeyringSeal {
  const sealOf = (key: Uint8Array): Seal => createSeal(key, random)
  const current = (): Seal => sealOf(keyring.current().key(purpose))
  return {
    close: (text, place) => current().close(text, place),
    open(sealed, place) {
      let failure: unknown
      for (const { key } of keyring.accepted()) {
        try {
          return sealOf(key(purpose)).open(sealed, place)
        } catch (error) {
          failure ??= error
        }
      }
      throw failure
    },
    isCurrent(sealed, place) {
      try {
        current().open(sealed, place)
        return true
      } catch {
        return false
      }
    },
  }
}
