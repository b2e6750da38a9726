import { createPublicKey, type KeyObject } from 'node:crypto'
import { keyIdOf, type VerificationKeys, type KeyAt, type SignedCheckpoint } from './checkpoint.ts'

/** Where the keys come from that a verification trusts. Never from the database that it checks. */
export type KeySource = 'server_secret' | 'pinned'

export type TrustedKeys = { readonly source: KeySource; readonly keys: VerificationKeys }

/** A key that the database names or that signed checkpoints, although nothing outside the database vouches for it. */
export type KeyFinding = {
  readonly keyId: string
  /** `replaced`: the database has another public key under the id of a trusted one. */
  readonly reason: 'untrusted' | 'replaced'
  /** The events that it signed for; left out where it signed for none. */
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

/** Compares what the database says of keys with those that are trusted for its checkpoints. */
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

/** The events that each key signed for. */
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
