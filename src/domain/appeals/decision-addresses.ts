import { hash, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../server-secret/keyring.ts'

/** Which decision an address names. */
export type NamedDecision = { readonly organizationId: string; readonly eventId: string }

/** Short addresses of decisions, for people without a key. A person with the address can read and appeal this decision. */
export type DecisionAddresses = {
  /** The part of the address that names the decision; undefined for ids of another form. */
  tokenOf(decision: NamedDecision): string | undefined
  /** Undefined if no accepted server secret has signed the token. */
  decisionOf(token: string): NamedDecision | undefined
}

const purpose = 'decision addresses'
const [eventPrefix, organizationPrefix] = ['evt_', 'org_']
/** Of an id, after its prefix. */
const idDigits = 26
/** In base64url: 132 bits. */
const signatureLength = 22
const keyBytes = 32
const tokenPattern = /^[0-9a-hjkmnp-tv-z]{52}[\w-]{22}$/

/**
 * A token is both ids and a signature of them. The signature is SHA-256 of a key and the ids, shortened. HMAC would hash twice,
 * which takes longer than the rest of a denial may. It would prevent that somebody extends a signed text, but here both ids
 * always have the same length, and a shortened hash cannot be extended.
 */
export function createDecisionAddresses(keyring: Keyring): DecisionAddresses {
  /** The key of the current server secret, followed by place for two ids. */
  let signed: Buffer | undefined
  keyring.onChange(() => (signed = undefined))

  return {
    tokenOf({ organizationId, eventId }) {
      if (!isId(eventId, eventPrefix) || !isId(organizationId, organizationPrefix)) return undefined
      const ids = eventId.slice(eventPrefix.length) + organizationId.slice(organizationPrefix.length)
      signed ??= signedText(keyring.current().key(purpose))
      return ids + signatureOf(signed, ids)
    },
    decisionOf(token) {
      if (!tokenPattern.test(token)) return undefined
      const ids = token.slice(0, 2 * idDigits)
      const signature = Buffer.from(token.slice(2 * idDigits))
      const isSigned = keyring
        .accepted()
        .some(({ key }) => timingSafeEqual(Buffer.from(signatureOf(signedText(key(purpose)), ids)), signature))
      if (!isSigned) return undefined
      return { eventId: eventPrefix + ids.slice(0, idDigits), organizationId: organizationPrefix + ids.slice(idDigits) }
    },
  }
}

const isId = (id: string, prefix: string): boolean => id.startsWith(prefix) && id.length === prefix.length + idDigits

function signedText(key: Uint8Array): Buffer {
  const text = Buffer.alloc(keyBytes + 2 * idDigits)
  text.set(key)
  return text
}

function signatureOf(text: Buffer, ids: string): string {
  text.write(ids, keyBytes, 'latin1')
  return hash('sha256', text, 'base64url').slice(0, signatureLength)
}
