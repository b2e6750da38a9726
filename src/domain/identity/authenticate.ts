import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { isAllowedIp, networksOf } from './allowed-ips.ts'
import type { AuthFailures } from './auth-failures.ts'
import { secretName, type Changes } from './changes.ts'
import { createCredentialCache, type KnownCredential } from './credential-cache.ts'
import type { KeyDigests, StoredDigest } from './key-digests.ts'
import { kindOfSecret, type KeyKind } from './key-format.ts'
import { createLookups, type Read } from './lookups.ts'
import type { AdminKey, Administrator, ApiKey, Principal } from './principal.ts'
import type { CredentialStore, FoundKey } from './store.ts'
import { createTokenReader, invalidToken, type VerifyToken } from './token-reader.ts'

export type Authenticator = {
  /** A project API key or a token, for inference and the policy gateway. A cached credential is returned synchronously. */
  principal(secret: string | undefined, address: string): MaybePromise<Principal>
  administrator(secret: string | undefined, address: string): MaybePromise<Administrator>
}

export const keyDenialReasons = [
  'ip_not_allowed',
  'revoked',
  'expired',
  'project_archived',
  'permission_denied',
] as const
export type KeyDenialReason = (typeof keyDenialReasons)[number]

/** Called when a request of a known key is denied. */
export type OnKeyDenied = (
  credential: Administrator | Principal,
  denial: { readonly address: string; readonly reason: KeyDenialReason },
) => void

export type AuthenticatorParts = {
  readonly store: CredentialStore
  readonly digests: KeyDigests
  readonly clock: Clock
  readonly changes: Changes
  readonly failures: AuthFailures
  readonly verifyToken: VerifyToken | undefined
  readonly onDenied: OnKeyDenied
  /** Called when the time of a key's last use could not be written. The request goes on. */
  readonly onTouchFailed: (error: unknown) => void
}

const touchEveryMs = 60_000

/** Every JWT starts so: `{"` in base64. */
const tokenStart = 'eyJ'

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { store, clock, changes, digests, failures, verifyToken } = parts
  const cacheParts = { clock, changes, invalid: invalidCredential }
  const principals = createCredentialCache<Principal>(cacheParts)
  const administrators = createCredentialCache<Administrator>(cacheParts)
  const rejected = createRejectedSecrets()
  const lookups = createLookups(store, changes)
  const readToken = createTokenReader({ ...cacheParts, lookups })
  const search = createKeySearch({ store, digests, onFailed: parts.onTouchFailed })
  const lookUp = createKeyLookup({ search, rejected, clock, onDenied: parts.onDenied })
  // The next lookup of each key then stores its digest under the secret that is now current.
  digests.onChange(() => [principals, administrators].forEach((known) => known.clear()))

  return {
    principal(secret, address) {
      const known = principals.get(secret)
      if (known) return admit(known, address)
      if (verifyToken && secret?.includes('.'))
        return checked(
          address,
          async () => principals.set(secret, await readToken(await verifyToken(secret, address), address)).value,
        )
      if (secret?.startsWith(tokenStart))
        throw invalidToken('this server accepts no tokens; auth.jwt is not configured')
      const key = wellFormed('ak', secret, address)
      const read = async (): Promise<KnownCredential<Principal>> => {
        const { row, readAt } = await lookUp(key, {
          kind: 'api_key',
          address,
          find: (digest) => lookups.apiKey(digest, address),
          credentialOf: principalOf,
        })
        return cacheEntryOf(row, readAt, principalOf(row))
      }
      return checked(address, async () => admit(await principals.refresh(key.text, read), address))
    },
    administrator(secret, address) {
      const known = administrators.get(secret)
      if (known) return admit(known, address)
      const key = wellFormed('adm', secret, address)
      const read = async (): Promise<KnownCredential<Administrator>> => {
        const { row, readAt } = await lookUp(key, {
          kind: 'admin_key',
          address,
          find: (digest) => lookups.adminKey(digest, address),
          credentialOf: administratorOf,
        })
        return cacheEntryOf(row, readAt, administratorOf(row))
      }
      return checked(address, async () => admit(await administrators.refresh(key.text, read), address))
    },
  }

  /** A credential is always checked, so a valid one passes even if its address has too many failures. */
  async function checked<T>(address: string, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!isFault(error) || error.kind !== 'auth') throw error
      failures.add(address)
      throw authFault(address, error)
    }
  }

  function authFault(address: string, invalid: Fault): Fault {
    const retryAfterSeconds = failures.waitSeconds(address)
    if (retryAfterSeconds === 0) return invalid
    const message = `${invalid.message} Too many failed authentications came from this address.`
    return new Fault('rate_limit', 'too_many_auth_failures', message, { retryAfterSeconds, cause: invalid.cause })
  }

  /** A malformed key, or one that was rejected before, needs no lookup. It does not count as a failure of its address. */
  function wellFormed(kind: KeyKind, secret: string | undefined, address: string): PresentedKey {
    if (secret === undefined) throw missingCredential()
    if (kindOfSecret(secret) !== kind) throw wrongCredential(kind, secret)
    const own = digests.current(secret)
    const before = rejected.get(own.digest)
    if (before !== undefined) {
      if (before.revoked !== undefined) parts.onDenied(before.revoked, { address, reason: 'revoked' })
      throw authFault(address, invalidCredential())
    }
    return { text: secret, own }
  }

  /** A key with a list of addresses works only from these. Without a list, the cost is one comparison with null. */
  function admit<T extends Principal | Administrator>(known: KnownCredential<T>, address: string): T {
    const { networks } = known.value
    if (networks === null || isAllowedIp(networks, address)) return touch(known)
    parts.onDenied(known.value, { address, reason: 'ip_not_allowed' })
    throw new Fault('permission', 'ip_not_allowed', `This key may not be used from ${address}.`)
  }

  function touch<T extends Principal | Administrator>(known: KnownCredential<T>): T {
    const nowMs = clock.nowMs()
    if (nowMs - known.touchedAtMs >= touchEveryMs) {
      known.touchedAtMs = nowMs
      const kind = known.value.kind === 'admin_key' ? 'admin_key' : 'api_key'
      store.touchKey(kind, known.value.id, nowMs).catch(parts.onTouchFailed)
    }
    return known.value
  }
}

type KeyDates = {
  readonly id: string
  readonly revokedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly lastUsedAtMs: number | null
}

const cacheEntryOf = <T>(row: FoundKey<KeyDates>, readAt: number, value: T): KnownCredential<T> => ({
  value,
  readAt,
  expiresAtMs: expiryOf(row),
  secretName: secretName(row.key.id, row.secretNumber),
  touchedAtMs: row.key.lastUsedAtMs ?? 0,
})

/** Why a key does not work; undefined if it does. */
function invalidityOf(row: FoundKey<KeyDates>, nowMs: number): KeyDenialReason | undefined {
  if (row.key.revokedAtMs !== null) return 'revoked'
  if (row.isArchived) return 'project_archived'
  return (expiryOf(row) ?? Infinity) <= nowMs ? 'expired' : undefined
}

/** The secret expires with its key, or before if a rotation replaced it. */
function expiryOf({ key, secretExpiresAtMs }: FoundKey<KeyDates>): number | null {
  if (key.expiresAtMs === null || secretExpiresAtMs === null) return key.expiresAtMs ?? secretExpiresAtMs
  return Math.min(key.expiresAtMs, secretExpiresAtMs)
}

function principalOf({ key, organization }: FoundKey<ApiKey>): Principal {
  const { id, projectId, models } = key
  return { kind: 'api_key', id, organization, projectId, models, ...grantsOf(key) }
}

function administratorOf({ key, organization }: FoundKey<AdminKey>): Administrator {
  const { id, expiresAtMs } = key
  return { kind: 'admin_key', id, organization, expiresAtMs, ...grantsOf(key) }
}

const grantsOf = ({ permissions, allowedIps }: AdminKey) => ({
  permissions: new Set(permissions),
  networks: allowedIps && networksOf(allowedIps),
})

const missingCredential = (): Fault =>
  new Fault('auth', 'invalid_api_key', 'No API key was sent.', { credential: 'missing' })

const keyNames: Readonly<Record<KeyKind, string>> = {
  ak: 'a project API key (ak_…)',
  adm: 'an administrator key (adm_…)',
}

/** Names the kind of a key that this endpoint never accepts. Whether the key is valid is not checked. */
function wrongCredential(kind: KeyKind, secret: string): Fault {
  const other = kind === 'ak' ? 'adm' : 'ak'
  const sent = secret.startsWith(`${other}_`)
    ? keyNames[other]
    : providerKey.test(secret)
      ? 'a key of a model provider'
      : ''
  if (sent === '') return invalidCredential()
  const message = `This is ${sent}; this endpoint needs ${keyNames[kind]}.`
  return new Fault('auth', 'invalid_api_key', message, { credential: 'invalid' })
}

/** The prefix of OpenAI's and Anthropic's keys. */
const providerKey = /^sk-/

/** Unknown, expired and revoked keys get the same message, so that a caller learns nothing about a key. */
const invalidCredential = (): Fault =>
  new Fault('auth', 'invalid_api_key', 'The API key is invalid, expired or revoked.', { credential: 'invalid' })

/** A key as a caller sent it. `own`: its digest under the current server secret. */
type PresentedKey = { readonly text: string; readonly own: StoredDigest }

type KeyTable<K> = {
  readonly kind: 'api_key' | 'admin_key'
  readonly address: string
  readonly find: (digest: string) => Promise<Read<FoundKey<K>>>
  readonly credentialOf: (row: FoundKey<K>) => Principal | Administrator
}

type KeyLookupParts = Pick<AuthenticatorParts, 'clock' | 'onDenied'> & {
  readonly search: ReturnType<typeof createKeySearch>
  readonly rejected: RejectedSecrets
}

/** Finds a key that is not cached, and rejects it if it does not work. */
function createKeyLookup({ search, rejected, clock, onDenied }: KeyLookupParts) {
  return async <K extends KeyDates>(
    key: PresentedKey,
    table: KeyTable<K>,
  ): Promise<{ row: FoundKey<K>; readAt: number }> => {
    const { value: row, readAt } = await search(key, table)
    const reason = row && invalidityOf(row, clock.nowMs())
    if (row && reason === undefined) return { row, readAt }
    const credential = row && table.credentialOf(row)
    if (!row || reason === 'revoked') rejected.set(key.own.digest, { revoked: credential })
    if (credential && reason) onDenied(credential, { address: table.address, reason })
    throw invalidCredential()
  }
}

type KeySearchParts = {
  readonly store: Pick<CredentialStore, 'replaceDigest'>
  readonly digests: KeyDigests
  readonly onFailed: (error: unknown) => void
}

/** Finds a key by its digest under the current server secret, then under the others that are accepted. */
function createKeySearch({ store, digests, onFailed }: KeySearchParts) {
  return async <K extends { readonly id: string }>(
    { text, own }: PresentedKey,
    { kind, find }: Pick<KeyTable<K>, 'kind' | 'find'>,
  ): Promise<Read<FoundKey<K>>> => {
    let read = await find(own.digest)
    let from: StoredDigest & { readonly isPrevious: boolean } = { ...own, isPrevious: true }
    for (const other of read.value ? [] : digests.others(text)) {
      read = await find(other.digest)
      from = other
      if (read.value) break
    }
    const { value: row } = read
    // A digest under the next secret is kept, because two nodes must not rewrite one another's digests.
    if (row && from.isPrevious && row.secretId !== own.secretId) {
      store.replaceDigest({ kind, id: row.key.id, from: from.digest }, own).catch(onFailed)
    }
    return read
  }
}

const maxDigests = 10_000

/**
 * Digests of secrets that were looked up without success, so that a repeated attempt needs no query. Such a secret never
 * becomes valid: new secrets are random, and a revocation is final. Expired secrets are not included, because the clock
 * that found them expired can be wrong.
 */
type RejectedSecrets = {
  get(digest: string): RejectedSecret | undefined
  set(digest: string, secret: RejectedSecret): void
}

/** `revoked`: the key, if there was one. */
type RejectedSecret = { readonly revoked: Principal | Administrator | undefined }

function createRejectedSecrets(): RejectedSecrets {
  const digests = new Map<string, RejectedSecret>()
  return {
    get: (digest) => digests.get(digest),
    set(digest, secret) {
      digests.set(digest, secret)
      if (digests.size > maxDigests) digests.delete(digests.keys().next().value ?? '') // evicts the oldest
    },
  }
}
