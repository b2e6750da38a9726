import type { AnyKey, Permission, RoleName } from './queries.ts'

/** The fields of the form, as they are typed. */
export type KeyDraft = {
  readonly name: string
  readonly models: string
  readonly permissions: readonly Permission[]
  /** Of a new administrator key, in place of single permissions. */
  readonly role: RoleName | undefined
  /** `2027-01-31`, or empty. */
  readonly expires: string
  readonly addresses: string
}

export const emptyDraft: KeyDraft = {
  name: '',
  models: '',
  permissions: [],
  role: undefined,
  expires: '',
  addresses: '',
}

export const draftOf = (key: AnyKey): KeyDraft => ({
  name: key.name,
  models: ('models' in key ? key.models : null)?.join(', ') ?? '',
  permissions: key.permissions as Permission[],
  role: undefined,
  expires: key.expires_at === undefined ? '' : lastDayOf(key.expires_at),
  addresses: key.allowed_ips?.join(', ') ?? '',
})

/**
 * The body that creates a key. Empty fields are left out, so that the server applies its defaults. The role or the
 * permissions of an administrator key are always sent, because without them it gets all of its creator's.
 */
export const createBody = ({ name, models, permissions, role, expires, addresses }: KeyDraft, isAdmin: boolean) => ({
  name: name.trim(),
  ...(role === undefined ? (isAdmin || permissions.length > 0) && { permissions } : { role }),
  ...(models.trim() !== '' && { models: listOf(models) }),
  ...(expires !== '' && { expires_at: endOfDay(expires) }),
  ...(addresses.trim() !== '' && { allowed_ips: listOf(addresses) }),
})

/** The body that changes a key: the fields that differ. An emptied field removes its restriction. */
export const updateBody = (before: KeyDraft, after: KeyDraft) => ({
  ...(after.name.trim() !== before.name && { name: after.name.trim() }),
  ...(isOtherSet(before.permissions, after.permissions) && { permissions: after.permissions }),
  ...(after.models !== before.models && { models: orNull(listOf(after.models)) }),
  ...(after.expires !== before.expires && { expires_at: after.expires === '' ? null : endOfDay(after.expires) }),
  ...(after.addresses !== before.addresses && { allowed_ips: orNull(listOf(after.addresses)) }),
})

export const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')

const orNull = (list: string[]): string[] | null => (list.length === 0 ? null : list)

export const isOtherSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length !== other.length || one.some((each) => !other.includes(each))

/** The local day of a time in Unix seconds, in the format of a date input. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1_000)
  const part = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`
}

/** The last local day on which a key works that expires at this time. */
export const lastDayOf = (expiresAt: number): string => dayOf(expiresAt - 1)

/** When a local day ends, in Unix seconds. Days of a change of the clock do not have 24 hours. */
export function endOfDay(day: string): number {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + 1)
  return Math.floor(date.getTime() / 1_000)
}
