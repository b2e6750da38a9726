import { Fault } from '../../base/fault.ts'

/** What an administrator key may be allowed to do; `*` is all of it. */
export const permissions = [
  'policies:read',
  'policies:write',
  'policies:publish',
  'keys:read',
  'keys:write',
  'projects:read',
  'projects:write',
  'gateway:read',
  'gateway:write',
  'exports:read',
  'exports:write',
  'audit:read',
  'usage:read',
  'credits:write',
  '*',
] as const

export type Permission = (typeof permissions)[number]

/** What a project API key may be allowed to do besides inference. */
export const apiKeyPermissions: readonly Permission[] = [
  'gateway:read',
  'gateway:write',
  'exports:read',
  'exports:write',
]

/** What a project API key gets where its creation does not say. */
export type KeyDefaults = { readonly permissions: readonly Permission[] }

const known = new Set<string>(permissions)

export const isPermission = (word: string): word is Permission => known.has(word)

export const holds = (held: ReadonlySet<Permission>, permission: Permission): boolean =>
  held.has(permission) || held.has('*')

export function requirePermission(held: ReadonlySet<Permission>, needed: Permission): void {
  if (holds(held, needed)) return
  throw new Fault('permission', 'permission_denied', `This credential lacks the permission ${needed}.`)
}
