import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Keeps text secret at rest, and notices when it was changed or moved. */
export type Encryption = {
  /** `place` says where the text belongs; it opens there and nowhere else. */
  encrypt(text: string, place: string): Uint8Array
  decrypt(sealed: Uint8Array, place: string): string
}

/** AES-256-GCM with a nonce drawn for each text; `key` has 32 bytes and serves this purpose alone. */
export function createEncryption(key: Uint8Array, random: Random): Encryption {
  return {
    encrypt(text, place) {
      const nonce = random.bytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(place))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(sealed, place) {
      const bytes = Buffer.from(sealed)
      const end = bytes.length - tagBytes
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(end))
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString('utf8')
    },
  }
}
