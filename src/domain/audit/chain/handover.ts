import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { canonicalize } from '../event/canonical.ts'
import {
  isSignedBy,
  keyIdOf,
  type VerificationKeys,
  type Handover,
  type KeyAt,
  type SignedCheckpoint,
  type SigningKey,
} from './checkpoint.ts'

// Signed bytes start with their purpose, so that the signature is not valid for anything else.
const purpose = 'gatehouse audit key handover 1\n'

type Keys = { readonly from: SigningKey & { readonly publicKey: KeyObject }; readonly to: KeyObject }

/** The old key's statement that a new key replaces it. The checkpoint that carries the statement is signed by the new key. */
export function handOver(chainUid: string, { from, to }: Keys): Handover {
  const statement = { from_key: pemOf(from.publicKey), to_key: pemOf(to) }
  return { ...statement, signature: sign(null, statedBytes(chainUid, statement), from.privateKey).toString('base64') }
}

/**
 * Which key is trusted for which range of a series of checkpoints. If the new key is trusted, the old key is trusted for the
 * checkpoints before the handover, because the new key signed a link to them. If the old key is trusted, the new key is trusted
 * from the handover on, because the old key signed the handover. An old key that leaks later is useless, because it is not
 * trusted after its handover.
 */
export function handedOver(checkpoints: readonly SignedCheckpoint[], trusted: VerificationKeys): KeyAt {
  const known = new Map<string, TrustedRange>([...trusted].map(([id, key]) => [id, { key, from: 0, before: Infinity }]))
  const keyAt: KeyAt = (keyId, sequence) => {
    const range = known.get(keyId)
    return range && sequence >= range.from && sequence < range.before ? range.key : undefined
  }
  const handovers = checkpoints.flatMap((checkpoint) => {
    const keys = checkpoint.handover && keysIn(checkpoint.handover)
    return keys ? [{ checkpoint, ...keys }] : []
  })
  for (const { checkpoint, from, to } of handovers) {
    const old = keyAt(from.id, checkpoint.sequence)
    if (!known.has(to.id) && old && isStatedBy(old, checkpoint)) {
      known.set(to.id, { key: to.key, from: checkpoint.sequence, before: Infinity })
    }
  }
  for (const { checkpoint, from } of handovers.toReversed()) {
    const signer = keyAt(checkpoint.key_id, checkpoint.sequence)
    if (!known.has(from.id) && signer && isSignedBy(signer, checkpoint)) {
      known.set(from.id, { key: from.key, from: 0, before: checkpoint.sequence })
    }
  }
  return keyAt
}

type TrustedRange = { readonly key: KeyObject; readonly from: number; readonly before: number }

function isStatedBy(key: KeyObject, { chain_uid: chainUid, handover }: SignedCheckpoint): boolean {
  if (!handover) return false
  const { signature, ...statement } = handover
  return verify(null, statedBytes(chainUid, statement), key, Buffer.from(signature, 'base64'))
}

/** Undefined if a key is not valid PEM. */
function keysIn({ from_key: from, to_key: to }: Handover) {
  try {
    const [fromKey, toKey] = [createPublicKey(from), createPublicKey(to)]
    return { from: { id: keyIdOf(fromKey), key: fromKey }, to: { id: keyIdOf(toKey), key: toKey } }
  } catch {
    return undefined
  }
}

const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' })

const statedBytes = (chainUid: string, statement: Omit<Handover, 'signature'>): Buffer =>
  Buffer.from(purpose + canonicalize({ chain_uid: chainUid, ...statement }))
