import { Fault } from '../../../base/fault.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import { entryIn } from '../../../domain/organization-models/upstreams.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { shownDefinition } from '../system/authority.ts'
import { modelMutations } from './mutations.ts'
import type { ModelRouteParts, ModelStores } from './parts.ts'
import { presentModel, type CatalogueEntry, type IsServedBy } from './present.ts'
import { ServedModelList, ServedModelObject } from './schema.ts'
import { entryParams } from './stored.ts'

const modelsPath = '/v1/organization/models'
const modelPath = `${modelsPath}/{model_id}`

const answer = { description: 'The model.', schema: ServedModelObject }

/** `/v1/organization/models`: the catalogue of an organization. */
export function catalogueRoutes(routes: AdminRoutes<ModelStores>, parts: ModelRouteParts): Route[] {
  const { read } = routes
  return [
    read({
      name: 'listCatalogueModels',
      isManaged: true,
      path: modelsPath,
      summary: 'List the models of the catalogue',
      description:
        'The models of the installation and those that the organization added, with their prices, their upstreams in order, and how many keys may use them. Every administrator key may read it; it contains no address and no secret of an upstream.',
      params: none,
      query: none,
      answer: { description: 'The catalogue.', schema: ServedModelList },
      operation: async ({ directory }, { actor }) => ({
        object: 'list' as const,
        data: await listModels(directory, actor, parts),
      }),
    }),
    read({
      name: 'getCatalogueModel',
      isManaged: true,
      path: modelPath,
      summary: 'Read a model of the catalogue',
      description: 'By its id or its name. An entry of the installation has only a name.',
      params: entryParams.model,
      query: none,
      answer,
      async operation({ directory }, { actor, params }) {
        const all = await listModels(directory, actor, parts)
        const named = all.map((entry) => ({ ...entry, id: entry.id ?? '' }))
        const found = entryIn(named, { idOrName: params.model_id })
        const model = found && all[named.indexOf(found)]
        if (model === undefined) throw new Fault('not_found', 'not_found', `There is no model ${params.model_id}.`)
        return model
      },
    }),
    ...modelMutations(routes, parts),
  ]
}

async function listModels(
  directory: DirectoryStore,
  actor: Administrator,
  parts: ModelRouteParts,
): Promise<CatalogueEntry[]> {
  const { id } = actor.organization
  const [models, keys, { catalogue }] = await Promise.all([
    parts.listServedModels(id),
    directory.countKeysByModels(id, parts.clock.nowMs()),
    parts.modelSetOf(id),
  ])
  const isServedBy: IsServedBy = (name, entry) =>
    entry.stored?.isHidden !== true && catalogue.entryOf(name)?.name === entry.name
  return models.map((model) => ({
    ...presentModel(model, keys, isServedBy),
    defined_in: { ...shownDefinition(model.definedIn, actor, parts) },
  }))
}
