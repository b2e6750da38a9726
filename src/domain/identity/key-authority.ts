import { Fault } from '../../base/fault.ts'
import { areWithin, networksOf, readAllowedIps, textOfNetwork, type Network } from './allowed-ips.ts'
import { holds, type Permission } from './permissions.ts'
import type { AdminKey, Administrator } from './principal.ts'
import type { DirectoryStore } from './store.ts'

/** What a caller may pass on to a key: no more permissions, no later expiry and no more addresses than its own. */
export type KeyAuthority = Pick<Administrator, 'permissions' | 'expiresAtMs' | 'networks'>

/**
 * A key grants only permissions that it has, so that a key with `keys:write` alone cannot create an owner. `param`: the field that
 * asks for them.
 */
export function requireGrantable(
  own: ReadonlySet<Permission>,
  granted: readonly Permission[],
  param = 'permissions',
): void {
  const missing = granted.find((permission) => !holds(own, permission))
  if (missing === undefined) return
  throw denied(`This credential lacks the permission ${missing} and cannot grant it.`, param)
}

/** A key cannot create one that outlives it. If no expiry is given, the new key expires with its creator. */
export function inheritedExpiry(creator: number | null, requestedMs: number | null | undefined): number | null {
  if (requestedMs === undefined) return creator
  if (creator === null || (requestedMs !== null && requestedMs <= creator)) return requestedMs
  const message =
    'This credential expires before the key would expire. Send an expires_at that is not later than its own.'
  throw denied(message, 'expires_at')
}

/** A key cannot create one that works from more addresses. If no list is given, the new key gets its creator's list. */
export function inheritedIps(
  creator: readonly Network[] | null,
  requested: readonly string[] | null | undefined,
): string[] | null {
  if (requested === undefined) return creator && creator.map(textOfNetwork)
  const list = requested && readAllowedIps(requested)
  if (creator === null || (list !== null && areWithin(networksOf(list), creator))) return list
  const message = 'This credential works from some addresses only. Send allowed_ips that lie within its own.'
  throw denied(message, 'allowed_ips')
}

/** The fields that decide what a key may do. */
export type KeyPower = Pick<AdminKey, 'permissions' | 'expiresAtMs' | 'allowedIps'>

/**
 * A key with fewer permissions cannot change, rotate or revoke one with more: it could remove the limits of a stronger key, or
 * take the key of an auditor away.
 */
export function requirePermissionsOf(
  by: ReadonlySet<Permission>,
  key: Pick<KeyPower, 'permissions'>,
  action: 'change' | 'rotate' | 'revoke',
): void {
  const missing = key.permissions.filter((permission) => !holds(by, permission))
  if (missing.length === 0) return
  const names = `${missing.length === 1 ? 'permission' : 'permissions'} ${missing.join(', ')}`
  throw denied(`This credential lacks the ${names} of the key and cannot ${action} it.`)
}

/** Rejects a change of a key that may do more than its caller, and one that gives a key more than its caller has. */
export function requireMayChange(by: KeyAuthority, before: KeyPower, after: KeyPower): void {
  requirePermissionsOf(by.permissions, before, 'change')
  requireGrantable(
    by.permissions,
    after.permissions.filter((permission) => !holds(new Set(before.permissions), permission)),
  )
  if (isLater(after.expiresAtMs, before.expiresAtMs)) inheritedExpiry(by.expiresAtMs, after.expiresAtMs)
  if (!isWithin(after.allowedIps, before.allowedIps)) inheritedIps(by.networks, after.allowedIps)
}

/** Rejects a caller that would learn a secret which may do more than its own. */
export function requireMayRotate(by: KeyAuthority, key: KeyPower): void {
  requirePermissionsOf(by.permissions, key, 'rotate')
  if (isLater(key.expiresAtMs, by.expiresAtMs))
    throw denied('This credential expires before the key and cannot rotate it.')
  if (!isWithin(key.allowedIps, by.networks && by.networks.map(textOfNetwork)))
    throw denied('This credential works from fewer addresses than the key and cannot rotate it.')
}

/** Whether the change takes something away from the key. */
export const isNarrower = (after: KeyPower, before: KeyPower): boolean =>
  before.permissions.some((permission) => !holds(new Set(after.permissions), permission)) ||
  isLater(before.expiresAtMs, after.expiresAtMs) ||
  !isWithin(before.allowedIps, after.allowedIps)

const isLater = (oneMs: number | null, otherMs: number | null): boolean => (oneMs ?? Infinity) > (otherMs ?? Infinity)

const isWithin = (inner: readonly string[] | null, outer: readonly string[] | null): boolean =>
  outer === null || (inner !== null && areWithin(networksOf(inner), networksOf(outer)))

/** Rejects taking away the last key with `*` that works. Lock the administrator keys before. */
export async function requireOwnerLeft(
  store: Pick<DirectoryStore, 'hasOtherOwner'>,
  key: AdminKey,
  nowMs: number,
): Promise<void> {
  if (!key.permissions.includes('*')) return
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return // already invalid
  if (!(await store.hasOtherOwner(key, nowMs))) throw lastAdminKey(key.id)
}

const lastAdminKey = (id: string): Fault =>
  new Fault(
    'conflict',
    'last_admin_key',
    `${id} is the last administrator key with the permission *, or the last one that neither expires nor is limited to addresses. Create another one first, or revoke it on the machine with: gatehouse keys revoke ${id}.`,
  )

const denied = (message: string, param?: string): Fault =>
  new Fault('permission', 'permission_denied', message, param === undefined ? {} : { param })
