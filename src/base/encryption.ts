import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from './random.ts'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts text at rest, and detects that it was changed or moved. */
export type Encryption = {
  /** `context` names where the text is stored. It can be decrypted only with the same context. */
  encrypt(text: string, context: string): Uint8Array
  decrypt(encrypted: Uint8Array, context: string): string
}

/** AES-256-GCM with a random nonce for each text. `key` has 32 bytes and is used for this purpose only. */
export function createEncryption(key: Uint8Array, random: Random): Encryption {
  return {
    encrypt(text, context) {
      const nonce = random.bytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(encrypted, context) {
      const bytes = Buffer.from(encrypted)
      const end = bytes.length - tagBytes
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(end))
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()]).toString('utf8')
    },
  }
}
