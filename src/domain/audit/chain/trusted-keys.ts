import { createPublicKey, type KeyObject } from 'node:crypto'
import { keyIdOf, type VerificationKeys, type KeyAt, type SignedCheckpoint } from './checkpoint.ts'

/** The source of the keys that a verification trusts. It is never the database that is verified. */
export type KeySource = 'server_secret' | 'pinned'

export type TrustedKeys = { readonly source: KeySource; readonly keys: VerificationKeys }

/** A key that the database lists or that signed checkpoints, although it is not trusted. */
export type KeyFinding = {
  readonly keyId: string
  /** `replaced`: the database has another public key under the id of a trusted key. */
  readonly reason: 'untrusted' | 'replaced'
  /** The events that it signed; left out if it signed none. */
  readonly from?: number
  readonly to?: number
}

/** Trusts these public keys in PEM. The ids are computed here, because the ids in a file prove nothing. */
export function pinnedKeys(publicKeys: readonly string[]): TrustedKeys {
  const keys = publicKeys.map((pem) => createPublicKey(pem))
  const other = keys.find(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519')
  if (other)
    throw new Error(`A public key is of the type ${other.asymmetricKeyType}; checkpoints are signed with Ed25519.`)
  return { source: 'pinned', keys: keysById(keys) }
}

/** Whether this PEM text is a key that can verify checkpoints. */
export function isVerificationKey(pem: string): boolean {
  try {
    return createPublicKey(pem).asymmetricKeyType === 'ed25519'
  } catch {
    return false
  }
}

export const keysById = (keys: readonly KeyObject[]): VerificationKeys =>
  new Map(keys.map((key) => [keyIdOf(key), key]))

/** Compares the keys that the database lists and that signed checkpoints with the trusted ones. */
export function foreignKeys(
  checkpoints: readonly SignedCheckpoint[],
  published: readonly { readonly id: string; readonly publicKey: string }[],
  keyAt: KeyAt,
): readonly KeyFinding[] {
  const untrusted = rangesOf(checkpoints.filter(({ key_id: id, sequence }) => !keyAt(id, sequence)))
  const trusted = rangesOf(checkpoints.filter(({ key_id: id, sequence }) => keyAt(id, sequence)))
  const unused = published.filter(({ id }) => !trusted.has(id) && !untrusted.has(id))
  const replaced = published.filter(({ id, publicKey }) => trusted.has(id) && idOfPem(publicKey) !== id)
  return [
    ...[...untrusted].map(([keyId, range]): KeyFinding => ({ keyId, reason: 'untrusted', ...range })),
    ...unused.flatMap(({ id }): KeyFinding[] => (keyAt(id, 0) ? [] : [{ keyId: id, reason: 'untrusted' }])),
    ...replaced.map(({ id }): KeyFinding => ({ keyId: id, reason: 'replaced', ...trusted.get(id) })),
  ]
}

/** The range of events that each key signed. */
function rangesOf(checkpoints: readonly SignedCheckpoint[]): Map<string, { from: number; to: number }> {
  const ranges = new Map<string, { from: number; to: number }>()
  for (const { key_id: keyId, sequence, count } of checkpoints) {
    ranges.set(keyId, { from: ranges.get(keyId)?.from ?? sequence - count + 1, to: sequence })
  }
  return ranges
}

function idOfPem(pem: string): string | undefined {
  try {
    return keyIdOf(createPublicKey(pem))
  } catch {
    return undefined
  }
}
