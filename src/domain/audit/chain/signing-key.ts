import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { keyIdOf, type SigningKey } from './checkpoint.ts'

/** What stands before the 32 bytes of an Ed25519 key in its standard form (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key that signs checkpoints, made from 32 secret bytes: every node that has them has the same one. */
export function createSigningKey(seed: Uint8Array): SigningKey & { readonly publicKey: KeyObject } {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) }
}
