import { createHash, sign, verify, type KeyObject } from 'node:crypto'
import { isRecord } from '../../../base/record.ts'
import { canonicalize } from '../event/canonical.ts'
import { isSignedCheckpoint } from '../chain/checkpoint-event.ts'
import type { SignedCheckpoint, SigningKey } from '../chain/checkpoint.ts'

/** What an object of the archive contains. It is signed and stored beside the object. */
export type Manifest = {
  readonly name: string
  readonly chain_uid: string
  readonly day: string
  readonly first_sequence: number
  readonly last_sequence: number
  readonly count: number
  readonly first_fingerprint: string
  readonly last_fingerprint: string
  /** Of the compressed object. */
  readonly bytes: number
  readonly sha256: string
  /** SHA-256 of the object before this one; null for the first. */
  readonly previous: string | null
  /**
   * The checkpoint of the last event, unless the object ends between two checkpoints, and those in which one key hands over to
   * another. Events carry all others.
   */
  readonly checkpoints: readonly SignedCheckpoint[]
}

/** `signature`: Ed25519, base64. */
export type SignedManifest = Manifest & { readonly key_id: string; readonly signature: string }

// Signed bytes start with their purpose, so that the signature is not valid for anything else.
const purpose = 'gatehouse audit archive 1\n'

export function signManifest(manifest: Manifest, { privateKey, keyId }: SigningKey): SignedManifest {
  const signature = sign(null, signedBytes(manifest, keyId), privateKey)
  return { ...manifest, key_id: keyId, signature: signature.toString('base64') }
}

export function isManifestSignedBy(key: KeyObject, { signature, key_id: keyId, ...manifest }: SignedManifest): boolean {
  return verify(null, signedBytes(manifest, keyId), key, Buffer.from(signature, 'base64'))
}

/** One line of canonical JSON. */
export const manifestBytes = (manifest: SignedManifest): Uint8Array => Buffer.from(`${canonicalize(manifest)}\n`)

/** Undefined if the text is not a manifest. */
export function readManifest(text: string): SignedManifest | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isManifest(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether two manifests are the same except for who signed them. */
export const isSameManifest = (one: Manifest, other: SignedManifest): boolean => {
  const { signature: _signature, key_id: _keyId, ...rest } = other
  return canonicalize(one) === canonicalize(rest)
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const signedBytes = (manifest: Manifest, keyId: string): Buffer =>
  Buffer.from(purpose + canonicalize({ ...manifest, key_id: keyId }))

const textFields = [
  'name',
  'chain_uid',
  'day',
  'first_fingerprint',
  'last_fingerprint',
  'sha256',
  'key_id',
  'signature',
]
const numberFields = ['first_sequence', 'last_sequence', 'count', 'bytes']

function isManifest(value: unknown): value is SignedManifest {
  return (
    isRecord(value) &&
    textFields.every((name) => typeof value[name] === 'string') &&
    numberFields.every((name) => Number.isSafeInteger(value[name])) &&
    (value.previous === null || typeof value.previous === 'string') &&
    Array.isArray(value.checkpoints) &&
    value.checkpoints.every(isSignedCheckpoint)
  )
}
