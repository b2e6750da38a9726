import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { Configuration } from '../audit/export/configuration.ts'
import type { AuditKind, WithAuditRecord } from '../mutations/audit-log.ts'
import type { InstallationEntries } from './installation.ts'
import type { StoredEntry } from './stored.ts'

/** An entry by its id or name, in its organization. */
export type EntryAt = {
  readonly organizationId: string
  readonly idOrName: string
  readonly ifMatch?: string | undefined
}

/** A new entry: its fields as the configuration file would have them. */
export type NewEntry = { readonly name: string; readonly isPaused: boolean; readonly settings: Configuration }

/** Fields to change: null removes a field, which then has its default. */
export type EntryPatch = { readonly isPaused?: boolean | undefined; readonly settings: Configuration }

export const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}.`, { param })

export function requireEnabled({ isEnabled }: InstallationEntries): void {
  if (isEnabled) return
  const message =
    'The operator of this installation has turned off that organizations add upstreams and models (administration.models.enabled).'
  throw new Fault('permission', 'permission_denied', message)
}

export const nameTaken = (what: string, name: string): Fault =>
  new Fault('conflict', 'duplicate_name', `There is already ${what} ${name}. Choose another name.`, { param: 'name' })

export const changedMeanwhile = (name: string): Fault =>
  new Fault('conflict', 'revision_conflict', `${name} was changed at the same time; send the request again.`)

/** Rejects a change if the caller has read another revision. */
export function requireRevision({ name, revision }: StoredEntry, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === `"${revision}"`) return
  const message = `${name} was changed since ${ifMatch}: its tag is "${revision}". Read it again.`
  throw new Fault('conflict', 'revision_conflict', message, { option: 'expected_version' })
}

/** The file may name variables and files of the server. A stored value may not, because it would read them for a tenant. */
export function rejectReferences(value: unknown, path = ''): void {
  if (typeof value === 'string' && /\$\{/.test(value)) {
    throw invalid(
      path,
      'variables and files (${NAME}, ${file:PATH}) are only replaced in the configuration file; send the value itself',
    )
  }
  if (Array.isArray(value)) value.forEach((item, at) => rejectReferences(item, `${path}[${at}]`))
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value)) rejectReferences(item, path === '' ? name : `${path}.${name}`)
}

/** An entry with its audit record; without one if nothing changed. */
export const recorded = (
  kind: AuditKind,
  entry: StoredEntry,
  details: Readonly<Record<string, unknown>>,
): WithAuditRecord<StoredEntry> => ({
  value: entry,
  record: { kind, resourceId: entry.id, details: { name: entry.name, ...details } },
})

type Change = { readonly before: StoredEntry; readonly after: StoredEntry; readonly isOnlyPause: boolean }

/** A change of nothing but `paused` has a kind of its own, because it is what is looked for after an outage. */
export function changeKind<Subject extends 'upstream' | 'model'>(
  subject: Subject,
  { before, after, isOnlyPause }: Change,
): `${Subject}.${'updated' | 'paused' | 'resumed'}` {
  if (!isOnlyPause || before.isPaused === after.isPaused) return `${subject}.updated`
  return after.isPaused ? `${subject}.paused` : `${subject}.resumed`
}

/** The fields that changed, before and after. */
export function changesBetween(before: Configuration, after: Configuration): Record<string, unknown> {
  const names = Object.keys({ ...before, ...after })
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  return Object.fromEntries(changed.map((name) => [name, { before: before[name] ?? null, after: after[name] ?? null }]))
}
