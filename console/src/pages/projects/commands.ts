import { startOfDay, type KeyDraft } from './key-draft.ts'

/** The options of `gatehouse keys` for the fields of the form that are filled. */
export const keyOptions = ({ name, models, permissions, role, expires, addresses }: KeyDraft) => ({
  name: name.trim() === '' ? 'NAME' : name.trim(),
  models: compact(models),
  role,
  permissions: role !== undefined || permissions.length === 0 ? undefined : permissions.join(','),
  expires: expires === '' ? undefined : timeOf(expires),
  'allow-ip': compact(addresses),
})

/** The options for the fields that differ. `any` and `never` remove a restriction. */
export const changedOptions = (before: KeyDraft, after: KeyDraft) => ({
  name: after.name.trim() === before.name ? undefined : after.name.trim(),
  models: after.models === before.models ? undefined : (compact(after.models) ?? 'any'),
  permissions: after.permissions.join() === before.permissions.join() ? undefined : after.permissions.join(','),
  expires: after.expires === before.expires ? undefined : after.expires === '' ? 'never' : timeOf(after.expires),
  'allow-ip': after.addresses === before.addresses ? undefined : (compact(after.addresses) ?? 'any'),
})

/** The start of the local day. The command would read a day as one in UTC. */
const timeOf = (day: string): string => new Date(startOfDay(day) * 1_000).toISOString()

const compact = (list: string): string | undefined => {
  const words = list.split(/[\s,]+/).filter((word) => word !== '')
  return words.length === 0 ? undefined : words.join(',')
}
