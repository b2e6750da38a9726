import { hkdfSync } from 'node:crypto'

/** The server secret, and the other secrets that are accepted during a rotation. */
export type ServerSecrets = {
  readonly current: string
  /** The previous secret: values made with it are read, and rewritten with the current one. */
  readonly previous?: string | undefined
  /** The next secret: values that other nodes already make with it are read, and not rewritten. */
  readonly next?: string | undefined
}

/** The keys of one secret. */
export type SecretKeys = {
  /** Identifies the secret in rows and reports without revealing it. */
  readonly id: string
  readonly role: 'current' | 'previous' | 'next'
  /** A separate key for each purpose. */
  key(purpose: string): Uint8Array
}

/** Derives every key from the server secret. A rotation replaces the secret while the service runs. */
export type Keyring = {
  /** For new values. */
  current(): SecretKeys
  /** For reading: the current secret first. */
  accepted(): readonly SecretKeys[]
  /** The secrets themselves, which must never be logged. */
  texts(): readonly string[]
  use(secrets: ServerSecrets): void
  /** Called after every `use`. */
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
      // A secret that is no longer accepted must still never be logged.
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

/** One server secret, a separate key for each purpose. */
export function deriveKey(serverSecret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', serverSecret, 'gatehouse', purpose, 32))
}
