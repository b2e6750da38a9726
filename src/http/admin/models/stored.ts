import Type, { type Static, type TObject } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { StoredFacts } from '../../../domain/inference/served-models.ts'
import type { EntryAt, EntryPatch, NewEntry } from '../../../domain/organization-models/entries.ts'
import { flag } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'

/** The bodies of upstreams and models. Their fields are those of the configuration file. */
export type EntrySchemas = {
  readonly upstream: { readonly create: TObject; readonly update: TObject; readonly test: TObject }
  readonly model: { readonly create: TObject; readonly update: TObject }
}

/** The fields of an upstream or model that tell what is stored of it. */
export const storedFields = {
  id: orNull(Type.String(), 'Its id; null for an entry of the installation, which cannot be changed through the API.'),
  paused: flag('Whether an administrator paused it.'),
  hidden: flag(
    'Whether the configuration of the installation has an entry of the same name, which is used in place of this one.',
  ),
  revision: orNull(
    Type.Integer(),
    'Counts the changes. Send it in `If-Match`, in quotation marks, to change only what you have read; null for an entry of the installation.',
  ),
  settings: orNull(
    Type.Record(Type.String(), Type.Unknown()),
    'The fields that were set, as they are sent and as the configuration file has them, with masked secrets; null for an entry of the installation.',
  ),
  created_at: orNull(unixTime('When it was added.'), 'When it was added; null for an entry of the installation.'),
  updated_at: orNull(unixTime('The last change.'), 'When it was last changed; null for an entry of the installation.'),
  managed_by: managedBy,
}

export const installedExample = {
  id: null,
  paused: false,
  hidden: false,
  revision: null,
  settings: null,
  created_at: null,
  updated_at: null,
}

type PresentedFacts = Omit<Static<TObject<typeof storedFields>>, 'managed_by'>

export function presentFacts(stored: StoredFacts | undefined): PresentedFacts {
  if (stored === undefined) return installedExample
  return {
    id: stored.id,
    paused: stored.isPaused,
    hidden: stored.isHidden,
    revision: stored.revision,
    settings: { ...stored.settings },
    created_at: toUnixSeconds(stored.createdAtMs),
    updated_at: toUnixSeconds(stored.updatedAtMs),
  }
}

/** The fields of a body, and the name and the pause apart from the settings. */
type EntryBody = Readonly<Record<string, unknown>>

export function newEntryOf({ name, paused, ...settings }: EntryBody): NewEntry {
  return { name: String(name), isPaused: paused === true, settings }
}

export function patchOf({ paused, ...settings }: EntryBody): EntryPatch {
  return { isPaused: typeof paused === 'boolean' ? paused : undefined, settings }
}

export const entryParams = {
  upstream: Type.Object({
    upstream_id: idText('The id or the name of the upstream.', 'ups_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  }),
  model: Type.Object({ model_id: idText('The id or the name of the model.', 'mdl_01k9z8y7x6w5v4t3s2r1q0p9n8') }),
}

type EntryInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly ifMatch?: string | undefined
}

export const entryAt = ({ actor, ifMatch }: EntryInput, idOrName: string): EntryAt => ({
  organizationId: actor.organization.id,
  idOrName,
  ifMatch,
})

/** The answer to a deletion. */
export const deletedEntry = (object: string, title: string) =>
  Type.Object(
    {
      object: Type.Literal(object),
      id: Type.String({ description: 'Its id.' }),
      name: Type.String({ description: 'Its name.' }),
      deleted: Type.Literal(true),
    },
    { title, examples: [{ object, id: 'mdl_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'support-model', deleted: true }] },
  )
