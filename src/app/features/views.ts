import { savedViewStore } from '../../adapters/stores/sql/identity/saved-views.ts'
import { createViews } from '../../domain/views/views.ts'
import { viewRoutes } from '../../http/admin/views/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** Named states of pages of the console. */
export function createViewFeature({ clock, ids, stores }: FeatureParts): Feature {
  const own = stores.of((tx) => ({ views: savedViewStore(tx) }))
  return {
    administration: (surface) => viewRoutes(createResourceRoutes({ ...surface, ...own }), createViews({ ids, clock })),
  }
}
