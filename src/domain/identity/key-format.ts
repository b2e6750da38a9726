import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../../base/random.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomLength = 32
const checksumLength = 6

export type KeyKind = 'ak' | 'adm'

const format = /^(ak|adm)_[0-9A-Za-z]{38}$/

/** `ak_` or `adm_`, 32 random base62 characters, 6 of checksum. Secret scanners can verify the checksum offline. */
export function mintSecret(kind: KeyKind, random: Random): string {
  const body = `${kind}_${randomCharacters(random)}`
  return body + checksumOf(body)
}

/** The kind of key, or undefined if the format or the checksum is wrong. Needs no database. */
export function kindOfSecret(secret: string): KeyKind | undefined {
  if (!format.test(secret)) return undefined
  if (checksumOf(secret.slice(0, -checksumLength)) !== secret.slice(-checksumLength)) return undefined
  return secret.startsWith('ak_') ? 'ak' : 'adm'
}

/** Shown in lists instead of the secret. */
export const redactSecret = (secret: string): string =>
  `${secret.slice(0, secret.indexOf('_') + 1)}…${secret.slice(-4)}`

/** Only the digest is stored. Without the pepper, which is not in the database, a stolen table cannot be used to verify keys. */
export type Digest = (secret: string) => string

export function createDigest(pepper: Uint8Array): Digest {
  return (secret) => createHmac('sha256', pepper).update(secret).digest('hex')
}

function randomCharacters(random: Random): string {
  let characters = ''
  while (characters.length < randomLength) {
    for (const byte of random.bytes(randomLength)) {
      if (byte < 248 && characters.length < randomLength) characters += base62[byte % 62] // 248 = 4 x 62: no bias
    }
  }
  return characters
}

function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let at = 0; at < checksumLength; at++) {
    digits = base62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
