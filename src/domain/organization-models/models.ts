import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { merged, type Configuration } from '../audit/export/configuration.ts'
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
import { abilitiesOf, requireShort } from './request-time.ts'
import type { OrganizationModelStore, StoredModel } from './stored.ts'
import { targetsIn } from './targets.ts'
import { entryIn } from './upstreams.ts'

export type ModelAdministrationParts = {
  readonly installation: InstallationEntries
  readonly ids: Ids
  readonly clock: Clock
}

/** The organization of a mutation. */
type Owner = { readonly id: string; readonly metered: boolean }

export type ModelAdministration = ReturnType<typeof createModelAdministration>

const maxModels = 500

/** Every mutation of a stored model, inside the transaction of the caller, with its audit record. */
export function createModelAdministration({ installation, ids, clock }: ModelAdministrationParts) {
  const requireUsable = async (
    store: OrganizationModelStore,
    owner: Owner,
    model: Pick<StoredModel, 'name' | 'settings'>,
  ): Promise<void> => {
    rejectReferences({ name: model.name, ...model.settings })
    const find = await abilitiesOf(store, installation, { organizationId: owner.id })
    const operations = model.settings['operations']
    const wantsEmbeddings = Array.isArray(operations) && operations.includes('embeddings')
    targetsIn(model.settings).forEach(({ upstream }, at) => {
      const abilities = find(upstream)
      const param = `targets[${at}].upstream`
      if (abilities === undefined) throw invalid(param, `there is no upstream ${upstream}`)
      if (installation.abilitiesOf(upstream) !== undefined) requireShared(owner, upstream, param)
      if (wantsEmbeddings && !abilities.canEmbed) throw invalid(param, `${upstream} has no embeddings`)
    })
    requireShort(model, find, installation)
  }

  const requireShared = ({ metered }: Owner, upstream: string, param: string): void => {
    if (installation.mayUseUpstreams({ isMetered: metered })) return
    const reason = installation.mayUseUpstreams({ isMetered: false })
      ? 'an organization that pays with credits may not set the price of what it uses there'
      : 'the operator does not allow it (administration.models.installation_upstreams)'
    throw invalid(param, `${upstream} is an upstream of the installation, and ${reason}; add an upstream of your own`)
  }

  return {
    async create(
      store: OrganizationModelStore,
      owner: Owner,
      { name, isPaused, settings }: NewEntry,
    ): Promise<WithAuditRecord<StoredModel>> {
      requireEnabled(installation)
      if (installation.hasModel(name)) throw nameTaken('a model of the installation called', name)
      await store.lock(owner.id)
      await requireUsable(store, owner, { name, settings })
      if ((await store.listModels(owner.id)).length >= maxModels) throw tooMany
      const nowMs = clock.nowMs()
      const model: StoredModel = {
        id: ids('mdl'),
        organizationId: owner.id,
        name,
        settings,
        isPaused,
        revision: 1,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      if (!(await store.insertModel(model))) throw nameTaken('a model called', name)
      return recorded('model.created', model, { paused: isPaused, ...settings })
    },

    async update(
      store: OrganizationModelStore,
      owner: Owner,
      { at, patch }: { readonly at: EntryAt; readonly patch: EntryPatch },
    ): Promise<WithAuditRecord<StoredModel>> {
      requireEnabled(installation)
      await store.lock(owner.id)
      const before = await findModel(store, at, installation)
      requireRevision(before, at.ifMatch)
      const settings: Configuration = merged(before.settings, patch.settings)
      const changes = changesBetween(before.settings, settings)
      const isOnlyPause = Object.keys(changes).length === 0
      const isPaused = patch.isPaused ?? before.isPaused
      if (isOnlyPause && isPaused === before.isPaused) return { value: before }
      // A paused model can be resumed, and a model paused, also after the operator changed what is allowed.
      if (!isOnlyPause) await requireUsable(store, owner, { name: before.name, settings })
      const after = { ...before, settings, isPaused, revision: before.revision + 1, updatedAtMs: clock.nowMs() }
      if (!(await store.replaceModel(after))) throw changedMeanwhile(before.name)
      const paused = changesBetween({ paused: before.isPaused }, { paused: isPaused })
      return recorded(changeKind('model', { before, after, isOnlyPause }), after, { ...changes, ...paused })
    },

    async remove(store: OrganizationModelStore, at: EntryAt): Promise<WithAuditRecord<StoredModel>> {
      await store.lock(at.organizationId)
      const model = await findModel(store, at, installation)
      requireRevision(model, at.ifMatch)
      if (!(await store.removeModel(model))) throw changedMeanwhile(model.name)
      return recorded('model.deleted', model, { ...model.settings })
    },
  }
}

const tooMany = new Fault(
  'conflict',
  'model_limit_reached',
  `An organization may add ${maxModels} models. Delete one first.`,
)

/** The error is the same for an unknown id and for a model of another organization. */
async function findModel(
  store: OrganizationModelStore,
  at: EntryAt,
  { hasModel }: Pick<InstallationEntries, 'hasModel'>,
): Promise<StoredModel> {
  const model = entryIn(await store.listModels(at.organizationId), at)
  if (model !== undefined) return model
  if (hasModel(at.idOrName)) {
    const message = `The model ${at.idOrName} is defined in the configuration of the installation and can only be changed there.`
    throw new Fault('conflict', 'defined_in_configuration', message)
  }
  throw new Fault('not_found', 'not_found', `There is no model ${at.idOrName.slice(0, 200)}.`)
}
