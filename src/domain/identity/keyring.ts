import { deriveKey } from './key-format.ts'

/** The secret of the server, and those that are accepted beside it while it is rotated. */
export type ServerSecrets = {
  readonly current: string
  /** The one before: what was made under it is read, and rewritten under the current one. */
  readonly previous?: string | undefined
  /** The one to come: what other nodes make under it already is read, and left as it is. */
  readonly next?: string | undefined
}

/** The keys of one secret. */
export type SecretKeys = {
  /** Names the secret in rows and reports. It says nothing about it. */
  readonly id: string
  readonly role: 'current' | 'previous' | 'next'
  /** A key of its own for each purpose. */
  key(purpose: string): Uint8Array
}

/** Every key that derives from the server secret. A rotation replaces the secret while the service runs. */
export type Keyring = {
  /** For what is made. */
  current(): SecretKeys
  /** For what is read: the current one first. */
  accepted(): readonly SecretKeys[]
  /** The texts themselves, which no log may show. */
  texts(): readonly string[]
  use(secrets: ServerSecrets): void
  /** Calls back after every `use`. */
  onChange(listener: () => void): void
}

export function createKeyring(secrets: ServerSecrets): Keyring {
  let all = keysOf(secrets)
  let texts = textsOf(secrets)
  const listeners: (() => void)[] = []
  return {
    current: () => all[0],
    accepted: () => all,
    texts: () => texts,
    use(next) {
      all = keysOf(next)
      // A secret that is no longer accepted stays one that no log may show.
      texts = [...new Set([...texts, ...textsOf(next)])]
      for (const listener of listeners) listener()
    },
    onChange: (listener) => void listeners.push(listener),
  }
}

function keysOf({ current, previous, next }: ServerSecrets): readonly [SecretKeys, ...SecretKeys[]] {
  const isOther = (secret: string | undefined): secret is string => secret !== undefined && secret !== current
  return [
    secretKeys(current, 'current'),
    ...(isOther(previous) ? [secretKeys(previous, 'previous')] : []),
    ...(isOther(next) && next !== previous ? [secretKeys(next, 'next')] : []),
  ]
}

const textsOf = ({ current, previous, next }: ServerSecrets): string[] =>
  [current, previous, next].flatMap((secret) => secret ?? [])

function secretKeys(secret: string, role: SecretKeys['role']): SecretKeys {
  const derived = new Map<string, Uint8Array>()
  const key = (purpose: string): Uint8Array => {
    const known = derived.get(purpose) ?? deriveKey(secret, purpose)
    derived.set(purpose, known)
    return known
  }
  return { id: Buffer.from(deriveKey(secret, 'secret id')).toString('hex').slice(0, 16), role, key }
}
