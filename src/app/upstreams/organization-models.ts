import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { completeModel } from '../../config/models.ts'
import { createCatalogue, type Model } from '../../domain/inference/catalogue.ts'
import type { UpstreamHealth } from '../../domain/inference/health.ts'
import {
  createModelDirectory,
  createUpstreamLists,
  type UpstreamLists,
} from '../../domain/inference/model-directory.ts'
import type { ModelSet, ModelSetOf } from '../../domain/inference/model-set.ts'
import type { StoredFacts } from '../../domain/inference/served-models.ts'
import { createOrganizationCache } from '../../domain/mutations/organization-cache.ts'
import type { InstallationEntries } from '../../domain/organization-models/installation.ts'
import type {
  OrganizationEntries,
  OrganizationModelStore,
  StoredEntry,
  StoredModel,
} from '../../domain/organization-models/stored.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { OpenOwnUpstream, OwnUpstream } from './own-upstreams.ts'
import { canEmbed, configuredModel } from './upstreams.ts'

/** What an organization added, in the form that requests and administrators use. */
export type OrganizationModels = {
  readonly set: ModelSet
  readonly upstreams: readonly OwnUpstream[]
  /** With the fields of the catalogue also of those that the installation hides. */
  readonly models: readonly OwnModel[]
  readonly lists: UpstreamLists
}

/** `targets` also has those that are not called now. */
type OwnModel = { readonly stored: StoredModel; readonly model: Model; readonly targets: Model['targets'] }

export type OrganizationModelParts = {
  readonly installation: ModelSet & { readonly models: readonly Model[]; readonly lists: UpstreamLists }
  readonly entries: InstallationEntries
  readonly store: Pick<OrganizationModelStore, 'load'>
  readonly open: OpenOwnUpstream
  readonly onFailedList: (upstream: string, error: unknown) => void
}

export type OrganizationModelsOf = (organizationId: string) => MaybePromise<OrganizationModels | undefined>

/**
 * The models of each organization. They are read with the first request of the organization and after its changes, as its
 * rules are. Upstreams that did not change keep their connections.
 */
export function createOrganizationModels(
  { changes, clock }: Pick<Infrastructure, 'changes' | 'clock'>,
  parts: OrganizationModelParts,
): { readonly modelSetOf: ModelSetOf; readonly modelsOf: OrganizationModelsOf } {
  const { installation, entries, store, open, onFailedList } = parts
  if (!entries.isEnabled) return { modelSetOf: () => installation, modelsOf: () => undefined }

  /** Those of `before` that did not change, and others in place of those that did. */
  const openUpstreams = (loaded: OrganizationEntries, before: readonly OwnUpstream[]): readonly OwnUpstream[] => {
    const upstreams = loaded.upstreams.flatMap((stored) => {
      const secrets = loaded.secrets.get(stored.id)
      const same = before.find((each) => each.stored.id === stored.id && each.stored.revision === stored.revision)
      return same ?? (secrets === undefined ? [] : open(stored, secrets))
    })
    retireAll(before.filter((each) => !upstreams.includes(each)))
    return upstreams
  }

  const modelsOf = createOrganizationCache<OrganizationModels | undefined>({
    changes,
    async read(organizationId, before) {
      const loaded = await store.load(organizationId)
      if (loaded === undefined) {
        retireAll(before?.upstreams ?? [])
        return undefined
      }
      const upstreams = openUpstreams(loaded, before?.upstreams ?? [])
      const used = upstreams.filter(({ stored }) => entries.abilitiesOf(stored.name) === undefined)
      const models = loaded.models.map((stored) => modelOf(stored, used, loaded))
      const own = new Map(used.map((upstream) => [upstream.stored.name, upstream]))
      const ownProviders = new Map(used.map(({ stored, provider }) => [stored.name, provider]))
      const ownLists = createUpstreamLists({ providers: ownProviders, clock, onFailedList })
      const lists: UpstreamLists = {
        current: (upstream) => (own.has(upstream) ? ownLists : installation.lists).current(upstream),
      }
      const visible = models.filter(({ stored }) => !entries.hasModel(stored.name)).map(({ model }) => model)
      const catalogue = createCatalogue([...visible, ...installation.models])
      const set: ModelSet = {
        catalogue,
        providers: new Map([...installation.providers, ...ownProviders]),
        health: healthOf(own, installation.health),
        modelDirectory: createModelDirectory({ catalogue, lists }),
      }
      return { set, upstreams, models, lists }
    },
    onEvicted: (evicted) => retireAll(evicted?.upstreams ?? []),
  })

  /** Targets that must not be called now are left out: a paused upstream, or one of the installation that is not permitted. */
  const modelOf = (stored: StoredModel, own: readonly OwnUpstream[], { isMetered }: OrganizationEntries): OwnModel => {
    const model = configuredModel(completeModel({ ...stored.settings, name: stored.name }), stored.createdAtMs)
    const byName = new Map(own.map((upstream) => [upstream.stored.name, upstream]))
    const isCallable = (upstream: string): boolean => {
      const found = byName.get(upstream)
      if (found !== undefined) return !found.stored.isPaused
      return entries.abilitiesOf(upstream) !== undefined && entries.mayUseUpstreams({ isMetered })
    }
    const embeds = (upstream: string): boolean => {
      const found = byName.get(upstream)
      return found === undefined ? entries.abilitiesOf(upstream)?.canEmbed === true : canEmbed(found.settings)
    }
    const { organizationId, isPaused } = stored
    const operations = model.targets.some(({ upstream }) => embeds(upstream)) ? model.operations : (['chat'] as const)
    const targets = model.targets.filter(({ upstream }) => isCallable(upstream))
    const served: Model = { ...model, operations, targets, freeTier: false, organizationId, isPaused }
    return { stored, model: served, targets: model.targets }
  }

  return {
    modelSetOf: (organizationId) => andThen(modelsOf(organizationId), (own) => own?.set ?? installation),
    modelsOf,
  }
}

const retireAll = (upstreams: readonly OwnUpstream[]): void => upstreams.forEach((upstream) => upstream.retire())

/** The health of an upstream of the organization is its own; that of the installation is what all organizations see. */
function healthOf(own: ReadonlyMap<string, OwnUpstream>, shared: UpstreamHealth): UpstreamHealth {
  const of = (upstream: string): UpstreamHealth => own.get(upstream)?.health ?? shared
  return {
    isCoolingDown: (upstream) => of(upstream).isCoolingDown(upstream),
    succeeded: (upstream, tookMs) => of(upstream).succeeded(upstream, tookMs),
    failed: (upstream, code) => of(upstream).failed(upstream, code),
    conditionOf: (upstream) => of(upstream).conditionOf(upstream),
  }
}

/** What administrators see of a stored entry. */
export const storedFacts = (stored: StoredEntry, isHidden: boolean): StoredFacts => {
  const { id, isPaused, revision, settings, createdAtMs, updatedAtMs } = stored
  return { id, isPaused, isHidden, revision, settings, createdAtMs, updatedAtMs }
}
