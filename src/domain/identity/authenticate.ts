import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { isAllowedIp, networksOf } from './allowed-ips.ts'
import type { AuthFailures } from './auth-failures.ts'
import type { Changes } from './changes.ts'
import { createCredentialCache, type KnownCredential } from './credential-cache.ts'
import type { KeyDigests } from './key-digests.ts'
import { kindOfSecret, type KeyKind } from './key-format.ts'
import { createKeySearch, type KeyTable, type PresentedKey } from './key-search.ts'
import { createLookups } from './lookups.ts'
import type { AdminKey, Administrator, ApiKey, Principal } from './principal.ts'
import { createRejectedSecrets } from './rejected-secrets.ts'
import type { CredentialStore, FoundKey } from './store.ts'
import { createTokenReader, type VerifyToken } from './token-reader.ts'

export type Authenticator = {
  /** A project API key or a token, for inference and the policy gateway. One that was met before is known at once. */
  principal(secret: string | undefined, address: string): MaybePromise<Principal>
  administrator(secret: string | undefined, address: string): MaybePromise<Administrator>
}

export type AuthenticatorParts = {
  readonly store: CredentialStore
  readonly digests: KeyDigests
  readonly clock: Clock
  readonly changes: Changes
  readonly failures: AuthFailures
  readonly verifyToken: VerifyToken | undefined
  /** Called when a valid key is used from an address that its list does not hold. */
  readonly onIpDenied: (who: Administrator | Principal, address: string) => void
  /** Called when noting the use of a key failed: worth a log line, never a refusal. */
  readonly onTouchFailed: (error: unknown) => void
}

const touchEveryMs = 60_000

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { store, clock, changes, digests, failures, verifyToken } = parts
  const memory = { clock, changes, invalid: invalidCredential }
  const principals = createCredentialCache<Principal>(memory)
  const administrators = createCredentialCache<Administrator>(memory)
  const refused = createRejectedSecrets()
  const lookups = createLookups(store, changes)
  const readToken = createTokenReader({ ...memory, lookups })
  const search = createKeySearch({ store, digests, onFailed: parts.onTouchFailed })
  // A key that is looked up again is stored again, under the secret that is now the current one.
  digests.onChange(() => [principals, administrators].forEach((known) => known.clear()))

  return {
    principal(secret, address) {
      const known = principals.recall(secret)
      if (known) return admit(known, address)
      if (verifyToken && secret?.includes('.'))
        return checked(
          address,
          async () => principals.remember(secret, await readToken(await verifyToken(secret, address), address)).who,
        )
      const key = wellFormed('ak', secret, address)
      const read = async (): Promise<KnownCredential<Principal>> => {
        const { found, readAt } = await lookUp(key, {
          kind: 'api_key',
          find: (digest) => lookups.apiKey(digest, address),
        })
        return memoryOf(found.key, readAt, principalOf(found))
      }
      return checked(address, async () => admit(await principals.refresh(key.text, read), address))
    },
    administrator(secret, address) {
      const known = administrators.recall(secret)
      if (known) return admit(known, address)
      const key = wellFormed('adm', secret, address)
      const read = async (): Promise<KnownCredential<Administrator>> => {
        const { found, readAt } = await lookUp(key, {
          kind: 'admin_key',
          find: (digest) => lookups.adminKey(digest, address),
        })
        return memoryOf(found.key, readAt, administratorOf(found))
      }
      return checked(address, async () => admit(await administrators.refresh(key.text, read), address))
    },
  }

  /** A credential is always checked, so that a valid one passes whatever else came from its address. */
  async function checked<T>(address: string, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      if (!isFault(error) || error.kind !== 'auth') throw error
      failures.note(address)
      throw refusal(address, error)
    }
  }

  function refusal(address: string, invalid: Fault): Fault {
    const retryAfterSeconds = failures.waitSeconds(address)
    if (retryAfterSeconds === 0) return invalid
    const message = `${invalid.message} Too many failed authentications came from this address.`
    return new Fault('rate_limit', 'too_many_auth_failures', message, { retryAfterSeconds, cause: invalid.cause })
  }

  /** What cannot be a key, or is known to be none, is refused at no cost; so it costs its address nothing either. */
  function wellFormed(kind: KeyKind, secret: string | undefined, address: string): PresentedKey {
    if (secret === undefined) throw missingCredential()
    if (kindOfSecret(secret) !== kind) throw invalidCredential()
    const own = digests.current(secret)
    if (refused.has(own.digest)) throw refusal(address, invalidCredential())
    return { text: secret, own }
  }

  async function lookUp<K extends KeyDates & { readonly id: string }>(
    key: PresentedKey,
    table: KeyTable<K>,
  ): Promise<{ found: FoundKey<K>; readAt: number }> {
    const { found, readAt } = await search(key, table)
    const isOver = !found || found.key.revokedAtMs !== null
    if (isOver) refused.add(key.own.digest)
    if (isOver || (found.key.expiresAtMs ?? Infinity) <= clock.nowMs()) throw invalidCredential()
    return { found, readAt }
  }

  /** A key with a list of addresses works from these alone; the others pay for one comparison with null. */
  function admit<T extends Principal | Administrator>(known: KnownCredential<T>, address: string): T {
    const { networks } = known.who
    if (networks === null || isAllowedIp(networks, address)) return noteUse(known)
    parts.onIpDenied(known.who, address)
    throw new Fault('permission', 'ip_not_allowed', `This key may not be used from ${address}.`)
  }

  function noteUse<T extends Principal | Administrator>(known: KnownCredential<T>): T {
    const nowMs = clock.nowMs()
    if (nowMs - known.touchedAtMs >= touchEveryMs) {
      known.touchedAtMs = nowMs
      const kind = known.who.kind === 'admin_key' ? 'admin_key' : 'api_key'
      store.touchKey(kind, known.who.id, nowMs).catch(parts.onTouchFailed)
    }
    return known.who
  }
}

type KeyDates = {
  readonly revokedAtMs: number | null
  readonly expiresAtMs: number | null
  readonly lastUsedAtMs: number | null
}

const memoryOf = <T>(key: KeyDates, readAt: number, who: T): KnownCredential<T> => ({
  who,
  readAt,
  expiresAtMs: key.expiresAtMs,
  touchedAtMs: key.lastUsedAtMs ?? 0,
})

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

/** One sentence for unknown, expired and revoked: the difference is nobody's business. */
export const invalidCredential = (cause?: unknown): Fault =>
  new Fault('auth', 'invalid_api_key', 'The API key is invalid, expired or revoked.', {
    credential: 'invalid',
    cause,
  })
