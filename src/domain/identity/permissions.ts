import { Fault } from '../../base/fault.ts'

/** The permissions of an administrator key; `*` includes all of them. */
export const permissions = [
  'policies:read',
  'policies:write',
  'policies:publish',
  'policies:override',
  'reviews:read',
  'reviews:write',
  'judges:read',
  'judges:write',
  'keys:read',
  'keys:write',
  'projects:read',
  'projects:write',
  'gateway:read',
  'gateway:write',
  'exports:read',
  'exports:write',
  'alerts:read',
  'alerts:write',
  'audit:read',
  'content:read',
  'usage:read',
  'credits:write',
  'budgets:read',
  'budgets:write',
  'members:read',
  'members:write',
  'models:write',
  'playground:use',
  'system:read',
  'system:probe',
  '*',
] as const

export type Permission = (typeof permissions)[number]

/** The permissions that a project API key can have in addition to inference. */
export const apiKeyPermissions: readonly Permission[] = [
  'gateway:read',
  'gateway:write',
  'exports:read',
  'exports:write',
]

/** The permissions of a project API key that is created without a list. */
export type KeyDefaults = { readonly permissions: readonly Permission[] }

const known = new Set<string>(permissions)

export const isPermission = (name: string): name is Permission => known.has(name)

export const holds = (own: ReadonlySet<Permission>, permission: Permission): boolean =>
  own.has(permission) || own.has('*')

/** Needs one of these permissions. */
export function requirePermission(own: ReadonlySet<Permission>, ...anyOf: readonly Permission[]): void {
  if (anyOf.some((needed) => holds(own, needed))) return
  throw new Fault('permission', 'permission_denied', `This credential lacks the permission ${anyOf.join(' or ')}.`)
}
