import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { isAllowedIp, networksOf } from './allowed-ips.ts'
import type { AuthFailures } from './auth-failures.ts'
import { secretName, type Changes } from '../mutations/changes.ts'
import { createCredentialCache, type KnownCredential } from './credential-cache.ts'
import { invalidCredential, missingCredential, wrongCredential } from './credential-faults.ts'
import type { KeyDigests } from './key-digests.ts'
import type { OnKeyDenied } from './key-denial.ts'
import { kindOfSecret, type KeyKind } from './key-format.ts'
import {
  createKeyLookup,
  createKeySearch,
  createRejectedSecrets,
  expiryOf,
  type KeyDates,
  type PresentedKey,
} from './key-lookup.ts'
import { createLookups } from './lookups.ts'
import type { AdminKey, Administrator, ApiKey, Principal } from './principal.ts'
import type { CredentialStore, FoundKey } from './store.ts'
import { createTokenReader, invalidToken, type VerifyToken } from './token-reader.ts'

export type Authenticator = {
  /** A project API key or a token, for inference and the policy gateway. A cached credential is returned synchronously. */
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

const cacheEntryOf = <T>(row: FoundKey<KeyDates>, readAt: number, value: T): KnownCredential<T> => ({
  value,
  readAt,
  expiresAtMs: expiryOf(row),
  secretName: secretName(row.key.id, row.secretNumber),
  touchedAtMs: row.key.lastUsedAtMs ?? 0,
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
