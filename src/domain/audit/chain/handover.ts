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

// What we sign begins with its purpose, so that the signature fits nothing else.
const purpose = 'gatehouse audit key handover 1\n'

type Keys = { readonly from: SigningKey & { readonly publicKey: KeyObject }; readonly to: KeyObject }

/** The old key's statement that another takes its place. The checkpoint that carries it is signed by the new one. */
export function handOver(chainUid: string, { from, to }: Keys): Handover {
  const statement = { from_key: pemOf(from.publicKey), to_key: pemOf(to) }
  return { ...statement, signature: sign(null, statedBytes(chainUid, statement), from.privateKey).toString('base64') }
}

/**
 * Which key is trusted where in a series of checkpoints. Who trusts the new key trusts the old one for what came before the
 * handover: the new key signed it, with a link to the checkpoint before. Who trusts the old key trusts the new one from the handover
 * on: the old key signed that. An old key that leaks later is of no use: it is not trusted behind its handover.
 */
export function handedOver(checkpoints: readonly SignedCheckpoint[], trusted: VerificationKeys): KeyAt {
  const known = new Map<string, Reach>([...trusted].map(([id, key]) => [id, { key, from: 0, before: Infinity }]))
  const keyAt: KeyAt = (keyId, sequence) => {
    const reach = known.get(keyId)
    return reach && sequence >= reach.from && sequence < reach.before ? reach.key : undefined
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

type Reach = { readonly key: KeyObject; readonly from: number; readonly before: number }

function isStatedBy(key: KeyObject, { chain_uid: chainUid, handover }: SignedCheckpoint): boolean {
  if (!handover) return false
  const { signature, ...statement } = handover
  return verify(null, statedBytes(chainUid, statement), key, Buffer.from(signature, 'base64'))
}

/** Undefined where what stands there is no key. */
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
