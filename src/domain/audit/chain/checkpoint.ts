import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { afterIo } from '../../../base/after-io.ts'
import { canonicalize } from '../event/canonical.ts'
import type { ChainPoint } from './chain.ts'

/**
 * A signed statement: "at this time the chain ended with this event". It goes to every sink, so rewriting the database alone
 * cannot hide a change.
 */
export type Checkpoint = {
  readonly chain_uid: string
  readonly sequence: number
  readonly fingerprint: string
  /** Events since the previous checkpoint. */
  readonly count: number
  /** Unix milliseconds. */
  readonly time: number
  readonly key_id: string
  /** Digest of the previous checkpoint; null for the first. */
  readonly previous: string | null
  /** Some of the events had waited for a signature longer than a running service takes. */
  readonly late?: true
  /** Set if the previous checkpoint was signed with another key of this installation. */
  readonly handover?: Handover
}

/** The previous key's statement that a new key replaces it. Keys are PEM; `signature` is Ed25519, base64. */
export type Handover = { readonly from_key: string; readonly to_key: string; readonly signature: string }

/** `signature`: Ed25519, base64. */
export type SignedCheckpoint = Checkpoint & { readonly signature: string }

export type SigningKey = { readonly privateKey: KeyObject; readonly keyId: string }

/** Public keys by id. */
export type VerificationKeys = ReadonlyMap<string, KeyObject>

/** The key with this id, if it is trusted for a checkpoint at this sequence. */
export type KeyAt = (keyId: string, sequence: number) => KeyObject | undefined

export type CheckpointFinding = {
  readonly sequence: number
  readonly reason: 'unknown_key' | 'bad_signature' | 'unlinked'
}

// Signed bytes start with their purpose, so that the signature is not valid for anything else.
const purpose = 'gatehouse audit checkpoint 1\n'

const checkedPerLoopTurn = 20

const maxUnsignedEvents = 1_000
const maxUnsignedMs = 60_000
const maxIdleMs = 3_600_000

/** A running service signs within a minute. Older unsigned events were changed by somebody else, or no service ran. */
export const lateAfterMs = 5 * 60_000

/**
 * Every 1,000 events or every minute, and every hour without events, so that a quiet log is signed as well. Events that carry
 * checkpoints do not count, because each would cause another checkpoint.
 */
export function isCheckpointDue(unsignedEvents: number, sinceLastMs: number): boolean {
  if (unsignedEvents === 0) return sinceLastMs >= maxIdleMs
  return unsignedEvents >= maxUnsignedEvents || sinceLastMs >= maxUnsignedMs
}

/** Signs the end of a chain, linked to the previous checkpoint. */
export function signCheckpoint(
  end: ChainPoint & {
    readonly timeMs: number
    readonly handover?: Handover | undefined
    readonly isLate?: boolean
  },
  before: SignedCheckpoint | undefined,
  { privateKey, keyId }: SigningKey,
): SignedCheckpoint {
  const checkpoint: Checkpoint = {
    chain_uid: end.chainUid,
    sequence: end.sequence,
    fingerprint: end.fingerprint,
    count: end.sequence - (before?.sequence ?? 0),
    time: end.timeMs,
    key_id: keyId,
    previous: before ? checkpointDigest(before) : null,
    ...(end.isLate && { late: true }),
    ...(end.handover && { handover: end.handover }),
  }
  return { ...checkpoint, signature: sign(null, signedBytes(checkpoint), privateKey).toString('base64') }
}

/**
 * Verifies signatures and links, oldest first, and returns the first that fails. The list may start with any checkpoint,
 * because retention removes old ones.
 */
export async function verifyCheckpoints(
  checkpoints: readonly SignedCheckpoint[],
  keyAt: KeyAt,
): Promise<CheckpointFinding | undefined> {
  for (const [at, checkpoint] of checkpoints.entries()) {
    // The checkpoints of half a year take a minute to verify, in a process that also serves requests.
    if (at % checkedPerLoopTurn === 0) await afterIo()
    const reason = unsignedReason(checkpoint, keyAt) ?? linkProblem(checkpoint, checkpoints[at - 1])
    if (reason) return { sequence: checkpoint.sequence, reason }
  }
  return undefined
}

/** The point in the chain that a checkpoint signs. */
export const pointOf = ({ chain_uid: chainUid, sequence, fingerprint }: Checkpoint): ChainPoint => ({
  chainUid,
  sequence,
  fingerprint,
})

/** A key's id: the first 16 hex digits of the digest of its public key. */
export function keyIdOf(publicKey: KeyObject): string {
  const bytes = publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

/** The digest that the next checkpoint carries. */
const checkpointDigest = (checkpoint: SignedCheckpoint): string =>
  createHash('sha256').update(canonicalize(checkpoint)).digest('hex')

/** Why a checkpoint's signature is not valid; undefined if it is. */
export function unsignedReason(signed: SignedCheckpoint, keyAt: KeyAt): 'unknown_key' | 'bad_signature' | undefined {
  const key = keyAt(signed.key_id, signed.sequence)
  if (!key) return 'unknown_key'
  return isSignedBy(key, signed) ? undefined : 'bad_signature'
}

export function isSignedBy(key: KeyObject, { signature, ...checkpoint }: SignedCheckpoint): boolean {
  return verify(null, signedBytes(checkpoint), key, Buffer.from(signature, 'base64'))
}

function linkProblem(checkpoint: Checkpoint, before: SignedCheckpoint | undefined): 'unlinked' | undefined {
  if (!before) return undefined
  const isLinked =
    checkpoint.previous === checkpointDigest(before) &&
    checkpoint.chain_uid === before.chain_uid &&
    checkpoint.count === checkpoint.sequence - before.sequence
  return isLinked ? undefined : 'unlinked'
}

const signedBytes = (checkpoint: Checkpoint): Buffer => Buffer.from(purpose + canonicalize(checkpoint))

/** The PKCS #8 header before the 32 bytes of an Ed25519 key (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Derives the key that signs checkpoints from 32 secret bytes. Nodes with the same secret derive the same key. */
export function createSigningKey(seed: Uint8Array): SigningKey & { readonly publicKey: KeyObject } {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) }
}
