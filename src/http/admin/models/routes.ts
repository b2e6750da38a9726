import type { Static } from 'typebox'
import type { DirectoryStore, KeysByModels } from '../../../domain/identity/store.ts'
import type { ListServedModels, ServedModel } from '../../../domain/inference/served-models.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { shownDefinition, type SystemVisibility } from '../system/authority.ts'
import { ServedModelList } from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Catalogue } from '../../../domain/inference/catalogue.ts'

type ModelParts = SystemVisibility & {
  readonly clock: Clock
  readonly catalogue: Pick<Catalogue, 'entryOf'>
  readonly listServedModels: ListServedModels
}

/** `/v1/organization/models`: the catalogue. */
export function catalogueRoute({ read }: AdminReads<{ readonly directory: DirectoryStore }>, parts: ModelParts): Route {
  const { clock, catalogue, listServedModels } = parts
  return read({
    name: 'listCatalogueModels',
    path: '/v1/organization/models',
    summary: 'List the models of the catalogue',
    description:
      'The models that the operator configured, with their prices, their upstreams in order, and how many keys may use them. Every administrator key may read it; it contains no address and no secret of an upstream.',
    params: none,
    query: none,
    answer: { description: 'The catalogue.', schema: ServedModelList },
    async operation({ directory }, { actor }) {
      const [models, keys] = await Promise.all([
        listServedModels(),
        directory.countKeysByModels(actor.organization.id, clock.nowMs()),
      ])
      const isServedBy = (name: string, entry: ServedModel): boolean => catalogue.entryOf(name)?.name === entry.name
      const data = models.map((model) => ({
        ...present(model, keys, isServedBy),
        defined_in: { ...shownDefinition(model.definedIn, actor, parts) },
      }))
      return { object: 'list' as const, data }
    },
  })
}

type CatalogueEntry = Omit<Static<typeof ServedModelList>['data'][number], 'defined_in'>
type IsServedBy = (name: string, entry: ServedModel) => boolean

function present(model: ServedModel, keys: readonly KeysByModels[], isServedBy: IsServedBy): CatalogueEntry {
  const { price } = model
  const sumOf = (selected: readonly KeysByModels[]): number => selected.reduce((sum, { count }) => sum + count, 0)
  return {
    object: 'organization.model',
    name: model.name,
    kind: model.name.endsWith('*') ? 'prefix' : 'model',
    names: [...model.names],
    targets: model.targets.map(({ upstream, kind, model: name }) => ({ upstream, upstream_kind: kind, model: name })),
    context_tokens: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    caps_output: model.capsOutput,
    price: { input: price.input, output: price.output, cache_read: price.cacheRead, cache_write: price.cacheWrite },
    may_use: {
      keys_with_all_models: sumOf(keys.filter(({ models }) => models === null)),
      keys_that_list_it: sumOf(keys.filter(({ models }) => models?.some((name) => isServedBy(name, model)))),
      free_requests: model.freeTier,
    },
  }
}
