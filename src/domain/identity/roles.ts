import type { Permission } from './permissions.ts'

/** The roles from the highest to the lowest. A person whose groups have several roles gets the highest. */
export const roleNames = ['owner', 'publisher', 'author', 'developer', 'billing', 'auditor', 'reviewer'] as const

export type RoleName = (typeof roleNames)[number]

/** A named set of permissions, for people and for administrator keys. */
export type Role = {
  readonly id: RoleName
  readonly description: string
  readonly permissions: readonly Permission[]
}

const author: readonly Permission[] = [
  'policies:read',
  'policies:write',
  'judges:read',
  'judges:write',
  'gateway:read',
  'gateway:write',
  'projects:read',
  'audit:read',
  'reviews:read',
  'reviews:write',
]

const definitions: Readonly<Record<RoleName, Omit<Role, 'id'>>> = {
  owner: { description: 'May do everything, also invite members and create keys.', permissions: ['*'] },
  publisher: {
    description: 'Writes policies and the gateway configuration, publishes policies, and reviews appeals.',
    permissions: [...author, 'policies:publish'],
  },
  author: {
    description: 'Writes drafts of policies and the gateway configuration, reads requests, and reviews appeals.',
    permissions: author,
  },
  developer: {
    description: 'Creates and revokes keys, tries requests in the playground, and reads projects, requests and usage.',
    permissions: [
      'keys:read',
      'keys:write',
      'projects:read',
      'alerts:read',
      'audit:read',
      'usage:read',
      'budgets:read',
      'playground:use',
    ],
  },
  billing: {
    description: 'Reads usage and the ledger, changes credits, plans, limits and budgets, and sets alerts about them.',
    permissions: [
      'usage:read',
      'credits:write',
      'budgets:read',
      'budgets:write',
      'projects:read',
      'keys:read',
      'alerts:read',
      'alerts:write',
    ],
  },
  auditor: {
    description: 'Reads everything except texts of prompts and answers, and changes nothing.',
    permissions: [
      'policies:read',
      'reviews:read',
      'judges:read',
      'keys:read',
      'projects:read',
      'gateway:read',
      'exports:read',
      'alerts:read',
      'audit:read',
      'usage:read',
      'budgets:read',
      'members:read',
      'system:read',
    ],
  },
  reviewer: {
    description: 'Reads requests with their texts and what was decided about them, and reviews appeals.',
    permissions: [
      'audit:read',
      'content:read',
      'projects:read',
      'policies:read',
      'judges:read',
      'reviews:read',
      'reviews:write',
    ],
  },
}

export const roles: readonly Role[] = roleNames.map((id) => ({ id, ...definitions[id] }))

export const permissionsOf = (role: RoleName): readonly Permission[] => definitions[role].permissions

export const isRoleName = (name: string): name is RoleName => Object.hasOwn(definitions, name)

/** The highest of these roles; undefined if there is none. */
export const highestRole = (names: readonly RoleName[]): RoleName | undefined =>
  roleNames.find((name) => names.includes(name))
