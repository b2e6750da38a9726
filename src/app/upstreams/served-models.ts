import type { Model } from '../../domain/inference/catalogue.ts'
import type { ModelSet } from '../../domain/inference/model-set.ts'
import type { Definition, ListServedModels, ServedModel } from '../../domain/inference/served-models.ts'
import type { InstallationEntries } from '../../domain/organization-models/installation.ts'
import { storedFacts, type OrganizationModels, type OrganizationModelsOf } from './organization-models.ts'
import { kindOf } from './upstreams.ts'

type ServedParts = {
  readonly installation: ModelSet & { readonly models: readonly Model[] }
  readonly entries: InstallationEntries
  readonly modelsOf: OrganizationModelsOf
  /** Where each model of the installation is defined, in their order. */
  readonly definitions: readonly Definition[]
  /** The kinds of the upstreams of the installation. */
  readonly kinds: ReadonlyMap<string, string>
}

/** The definition of what an organization added. */
export const inOrganization: Definition = { source: 'organization', file: null, key: null }

/** Lists the entries of the catalogue of an organization, for administrators: those of the installation, then its own. */
export function createListServed({
  installation,
  entries,
  modelsOf,
  definitions,
  kinds,
}: ServedParts): ListServedModels {
  const withKinds = (targets: Model['targets'], own?: OrganizationModels): ServedModel['targets'] =>
    targets.map((target) => {
      const ownUpstream = own?.upstreams.find(({ stored }) => stored.name === target.upstream)
      const kind = kinds.get(target.upstream) ?? (ownUpstream && kindOf(ownUpstream.settings)) ?? 'unknown'
      return { ...target, kind }
    })

  return async (organizationId) => {
    const own = await modelsOf(organizationId)
    const { catalogue, modelDirectory } = own?.set ?? installation
    const all = await modelDirectory.list()
    const namesOf = (model: Model): string[] =>
      all.filter(({ name }) => catalogue.entryOf(name) === model).map(({ name }) => name)
    const shared = installation.models.map((model, at) => ({
      ...model,
      targets: withKinds(model.targets),
      names: namesOf(model),
      definedIn: definitions[at] ?? { source: 'built_in' as const, file: null, key: null },
    }))
    // A configured prefix replaces the same prefix of an upstream from the environment.
    const { catalogue: installed, models } = installation
    const used = shared.filter((_, at) => installed.entryOf(models[at]?.name ?? '') === models[at])
    const added = (own?.models ?? []).map(({ stored, model, targets }) => ({
      ...model,
      targets: withKinds(targets, own),
      names: namesOf(model),
      definedIn: inOrganization,
      stored: storedFacts(stored, entries.hasModel(stored.name)),
    }))
    return [...used, ...added]
  }
}
