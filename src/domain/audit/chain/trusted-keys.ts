import { createPublicKey, type KeyObject } from 'node:crypto'
import { keyIdOf, type CheckpointKeys, type SignedCheckpoint } from './checkpoint.ts'

/** Where the keys come from that a verification trusts. Never from the database that it checks. */
export type KeySource = 'server_secret' | 'pinned'

export type TrustedKeys = { readonly source: KeySource; readonly keys: CheckpointKeys }

/** A key that the database names or that signed checkpoints, although nothing outside the database vouches for it. */
export type KeyFinding = {
  readonly keyId: string
  /** `replaced`: the database has another public key under the id of a trusted one. */
  readonly reason: 'untrusted' | 'replaced'
  /** The events that it signed for; left out where it signed for none. */
  readonly from?: number
  readonly to?: number
}

/** Trusts these PEM texts. The ids are computed: what a file says of them is not believed. */
export function pinnedKeys(publicKeys: readonly string[]): TrustedKeys {
  const keys = publicKeys.map((pem) => createPublicKey(pem))
  const other = keys.find(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519')
  if (other)
    throw new Error(`A public key is of the type ${other.asymmetricKeyType}; checkpoints are signed with Ed25519.`)
  return { source: 'pinned', keys: keysById(keys) }
}

export const keysById = (keys: readonly KeyObject[]): CheckpointKeys => new Map(keys.map((key) => [keyIdOf(key), key]))

/** Compares what the database says of keys with those that are trusted. */
export function foreignKeys(
  checkpoints: readonly SignedCheckpoint[],
  published: readonly { readonly id: string; readonly publicKey: string }[],
  trusted: CheckpointKeys,
): readonly KeyFinding[] {
  const ranges = new Map<string, { from: number; to: number }>()
  for (const { key_id: keyId, sequence, count } of checkpoints) {
    const first = ranges.get(keyId)?.from ?? sequence - count + 1
    ranges.set(keyId, { from: first, to: sequence })
  }
  const ids = new Set([...ranges.keys(), ...published.map(({ id }) => id)])
  const untrusted = [...ids].filter((keyId) => !trusted.has(keyId))
  const replaced = published.filter(({ id, publicKey }) => trusted.has(id) && idOfPem(publicKey) !== id)
  return [
    ...untrusted.map((keyId): KeyFinding => ({ keyId, reason: 'untrusted', ...ranges.get(keyId) })),
    ...replaced.map(({ id }): KeyFinding => ({ keyId: id, reason: 'replaced', ...ranges.get(id) })),
  ]
}

function idOfPem(pem: string): string | undefined {
  try {
    return keyIdOf(createPublicKey(pem))
  } catch {
    return undefined
  }
}
