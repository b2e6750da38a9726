import type { Static } from 'typebox'
import type { KeysByModels } from '../../../domain/identity/store.ts'
import type { ServedModel } from '../../../domain/inference/served-models.ts'
import type { ServedModelList } from './schema.ts'
import { presentFacts } from './stored.ts'

export type CatalogueEntry = Static<typeof ServedModelList>['data'][number]
export type IsServedBy = (name: string, entry: ServedModel) => boolean

export function presentModel(
  model: ServedModel,
  keys: readonly KeysByModels[],
  isServedBy: IsServedBy,
): Omit<CatalogueEntry, 'defined_in'> {
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
    ...presentFacts(model.stored),
  }
}
