import { endOfDay, isOtherSet, type KeyDraft } from './key-draft.ts'

/**
 * The options of `gatehouse keys create` for the fields of the form that are filled: of a key of the project, or of an
 * administrator key. Without permissions, an administrator key would get all of its creator's.
 */
export const keyOptions = (
  { name, models, permissions, role, expires, addresses }: KeyDraft,
  project: string | undefined,
) => ({
  ...(project === undefined ? { admin: true as const } : { project }),
  name: name.trim() === '' ? 'NAME' : name.trim(),
  models: compact(models),
  role,
  permissions:
    role !== undefined || (permissions.length === 0 && project !== undefined) ? undefined : permissions.join(','),
  expires: expires === '' ? undefined : timeOf(expires),
  'allow-ip': compact(addresses),
})

/** The options for the fields that differ. `any` and `never` remove a restriction. */
export const changedOptions = (before: KeyDraft, after: KeyDraft) => ({
  name: after.name.trim() === before.name ? undefined : after.name.trim(),
  models: after.models === before.models ? undefined : (compact(after.models) ?? 'any'),
  permissions: isOtherSet(before.permissions, after.permissions) ? after.permissions.join(',') : undefined,
  expires: after.expires === before.expires ? undefined : after.expires === '' ? 'never' : timeOf(after.expires),
  'allow-ip': after.addresses === before.addresses ? undefined : (compact(after.addresses) ?? 'any'),
})

/** The end of the local day. The command would read a day as one in UTC. */
const timeOf = (day: string): string => new Date(endOfDay(day) * 1_000).toISOString()

const compact = (list: string): string | undefined => {
  const words = list.split(/[\s,]+/).filter((word) => word !== '')
  return words.length === 0 ? undefined : words.join(',')
}
