import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { isRecord } from '../../base/record.ts'
import {
  changedFields,
  isMask,
  merged,
  secretsIn,
  valueAt,
  withMasks,
  withoutMasks,
  withValues,
  type Configuration,
  type Secrets,
} from '../audit/export/configuration.ts'
import type { WithAuditRecord } from '../mutations/audit-log.ts'
import {
  changedMeanwhile,
  changeKind,
  changesBetween,
  invalid,
  nameTaken,
  recorded,
  rejectReferences,
  requireEnabled,
  requireRevision,
  type EntryAt,
  type EntryPatch,
  type NewEntry,
} from './entries.ts'
import type { InstallationEntries } from './installation.ts'
import { requireShortModels } from './request-time.ts'
import { targetsIn } from './targets.ts'
import type { OrganizationModelStore, StoredModel, StoredUpstream } from './stored.ts'

export type UpstreamAdministrationParts = {
  readonly installation: InstallationEntries
  /** What is wrong with the address of an upstream; undefined if nothing is. */
  readonly findAddressProblem: (settings: Configuration) => Promise<string | undefined>
  readonly ids: Ids
  readonly clock: Clock
}

/** The result of `newAddressProblem` or `changedAddressProblem` for the same input. */
type AddressChecked = { readonly addressProblem: string | undefined }

export type UpstreamAdministration = ReturnType<typeof createUpstreamAdministration>

const maxUpstreams = 50

/** These decide where the secrets are sent. */
const destinationFields = ['kind', 'server', 'base_url']

/** Every mutation of a stored upstream, inside the transaction of the caller, with its audit record. */
export function createUpstreamAdministration(parts: UpstreamAdministrationParts) {
  const { installation, findAddressProblem, ids, clock } = parts
  return {
    /** Looks names up in the network, so it runs before the transaction. */
    newAddressProblem: (settings: Configuration): Promise<string | undefined> => findAddressProblem(settings),

    /** For a test of settings that are not stored. */
    requireUsable(settings: Configuration, addressProblem: string | undefined): void {
      requireEnabled(installation)
      requireUsable(settings, addressProblem)
    },

    /** Only of an address that the patch changes: other changes stay possible, whatever the address is. */
    async changedAddressProblem(store: OrganizationModelStore, at: EntryAt, { settings }: EntryPatch) {
      const upstream = entryIn(await store.listUpstreams(at.organizationId), at)
      if (upstream === undefined) return undefined
      const after = merged(upstream.settings, settings)
      return changedFields(upstream.settings, after, destinationFields).length === 0
        ? undefined
        : await findAddressProblem(after)
    },

    async create(
      store: OrganizationModelStore,
      organizationId: string,
      { name, isPaused, settings, addressProblem }: NewEntry & AddressChecked,
    ): Promise<WithAuditRecord<StoredUpstream>> {
      requireEnabled(installation)
      requireUsable(settings, addressProblem)
      if (installation.abilitiesOf(name) !== undefined) throw nameTaken('an upstream of the installation called', name)
      await store.lock(organizationId)
      if ((await store.listUpstreams(organizationId)).length >= maxUpstreams) throw tooMany
      const secrets = secretsIn(settings, secretFieldsOf(settings))
      const nowMs = clock.nowMs()
      const upstream: StoredUpstream = {
        id: ids('ups'),
        organizationId,
        name,
        settings: withMasks(settings, secrets),
        isPaused,
        revision: 1,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      if (!(await store.insertUpstream(upstream, secrets))) throw nameTaken('an upstream called', name)
      return recorded('upstream.created', upstream, { paused: isPaused, ...withoutSecrets(settings, secrets) })
    },

    async update(
      store: OrganizationModelStore,
      at: EntryAt,
      { isPaused, settings: change, addressProblem }: EntryPatch & AddressChecked,
    ): Promise<WithAuditRecord<StoredUpstream>> {
      requireEnabled(installation)
      await store.lock(at.organizationId)
      const before = await findUpstream(store, at, installation)
      requireRevision(before, at.ifMatch)
      const secretsBefore = await store.secretsOf(before)
      const given = withoutMasks(change, before.settings, secretFieldsOf(change))
      const settings = merged(withValues(before.settings, secretsBefore), given)
      requireUsable(settings, addressProblem)
      requireSecretsAgain(before.settings, given, settings)
      const secrets = secretsIn(settings, secretFieldsOf(settings))
      const changes = changesBetween(
        withoutSecrets(before.settings, secretsBefore),
        withoutSecrets(settings, secrets, secretsBefore),
      )
      const after: StoredUpstream = {
        ...before,
        settings: withMasks(settings, secrets),
        isPaused: isPaused ?? before.isPaused,
        revision: before.revision + 1,
        updatedAtMs: clock.nowMs(),
      }
      const isOnlyPause = Object.keys(changes).length === 0
      if (isOnlyPause && after.isPaused === before.isPaused) return { value: before }
      await requireShortModels(store, installation, after)
      if (!(await store.replaceUpstream(after, secrets))) throw changedMeanwhile(before.name)
      const paused = changesBetween({ paused: before.isPaused }, { paused: after.isPaused })
      return recorded(changeKind('upstream', { before, after, isOnlyPause }), after, { ...changes, ...paused })
    },

    async remove(store: OrganizationModelStore, at: EntryAt): Promise<WithAuditRecord<StoredUpstream>> {
      await store.lock(at.organizationId)
      const upstream = await findUpstream(store, at, installation)
      requireRevision(upstream, at.ifMatch)
      requireUnused(upstream, await store.listModels(at.organizationId))
      if (!(await store.removeUpstream(upstream))) throw changedMeanwhile(upstream.name)
      return recorded('upstream.deleted', upstream, { kind: upstream.settings['kind'] })
    },
  }
}

const tooMany = new Fault(
  'conflict',
  'model_limit_reached',
  `An organization may add ${maxUpstreams} upstreams. Delete one first.`,
)

/** The error is the same for an unknown id and for an upstream of another organization. */
async function findUpstream(
  store: OrganizationModelStore,
  at: EntryAt,
  installation: Pick<InstallationEntries, 'abilitiesOf'>,
): Promise<StoredUpstream> {
  const upstream = entryIn(await store.listUpstreams(at.organizationId), at)
  if (upstream !== undefined) return upstream
  if (installation.abilitiesOf(at.idOrName) !== undefined) {
    const message = `The upstream ${at.idOrName} is defined in the configuration of the installation and can only be changed there.`
    throw new Fault('conflict', 'defined_in_configuration', message)
  }
  throw new Fault('not_found', 'not_found', `There is no upstream ${at.idOrName}.`)
}

/** Ids have a prefix and 26 characters, so a name that equals the id of another entry is no mistake of anybody. */
export const entryIn = <Entry extends { readonly id: string; readonly name: string }>(
  entries: readonly Entry[],
  { idOrName }: Pick<EntryAt, 'idOrName'>,
): Entry | undefined => entries.find(({ id }) => id === idOrName) ?? entries.find(({ name }) => name === idOrName)

/** The key and every header, because no name of a header says that its value is harmless. */
function secretFieldsOf(settings: Configuration): string[] {
  const { headers } = settings
  return ['api_key', ...(isRecord(headers) ? Object.keys(headers).map((name) => `headers.${name}`) : [])]
}

/** The settings for the audit log. A secret is only named as set, or as changed since `before`. */
function withoutSecrets(settings: Configuration, secrets: Secrets, before: Secrets = secrets): Configuration {
  const word = (field: string): string =>
    before[field] === undefined || before[field] === secrets[field] ? '(set)' : '(changed)'
  return withValues(settings, Object.fromEntries(Object.keys(secrets).map((field) => [field, word(field)])))
}

function requireUsable(settings: Configuration, addressProblem: string | undefined): void {
  rejectReferences(settings)
  const { base_url: baseUrl, headers } = settings
  if (typeof baseUrl === 'string') requireUrl(baseUrl)
  const names = isRecord(headers) ? Object.keys(headers) : []
  const badName = names.find((name) => !/^[A-Za-z0-9_-]{1,100}$/.test(name))
  if (badName !== undefined)
    throw invalid('headers', `${JSON.stringify(badName.slice(0, 40))} is not the name of a header`)
  for (const field of secretFieldsOf(settings)) requireSecret(field, valueAt(settings, field))
  if (addressProblem !== undefined) throw invalid('base_url', addressProblem)
}

function requireSecret(field: string, value: unknown): void {
  if (isMask(value)) throw invalid(field, 'is the mask of another secret; send the secret itself')
  if (typeof value === 'string' && !headerText.test(value))
    throw invalid(field, 'contains a character that a header cannot have')
}

const headerText = /^[\t\x20-\x7e\x80-\xff]*$/

function requireUrl(baseUrl: string): void {
  if (!URL.canParse(baseUrl)) throw invalid('base_url', 'must be a URL')
  const { username, password } = new URL(baseUrl)
  if (username !== '' || password !== '')
    throw invalid('base_url', 'must not contain a user or password; send a key as api_key, or a header')
}

/**
 * A change of the destination needs the secrets again. Otherwise an administrator who cannot read a key could send it to a
 * server of their own.
 */
function requireSecretsAgain(before: Configuration, change: Configuration, after: Configuration): void {
  const [moved] = changedFields(before, after, destinationFields)
  if (moved === undefined) return
  const isKept = (field: string): boolean => valueAt(after, field) !== undefined && valueAt(change, field) === undefined
  const kept = secretFieldsOf(after).find(isKept)
  if (kept !== undefined) throw invalid(kept, `must be sent again, since ${moved} was changed`)
}

function requireUnused({ name }: StoredUpstream, models: readonly StoredModel[]): void {
  const users = models.filter(({ settings }) => targetsIn(settings).some(({ upstream }) => upstream === name))
  if (users.length === 0) return
  const shown = users.slice(0, 5).map((model) => model.name)
  const rest = users.length > shown.length ? ` and ${users.length - shown.length} more` : ''
  const message = `Models use the upstream ${name}: ${shown.join(', ')}${rest}. Change or delete them first.`
  throw new Fault('conflict', 'upstream_in_use', message)
}
