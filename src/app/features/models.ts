import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { catalogueRoute } from '../../http/admin/models/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** The models that the installation serves. */
export function createModels(
  { config, clock, stores }: FeatureParts,
  { catalogue, installation: { listServedModels } }: Pick<RunningServerParts, 'catalogue' | 'installation'>,
): Feature {
  const own = stores.of((tx) => ({ directory: directoryStore(tx) }))
  const isSystemVisible = config.administration.system_visible
  return {
    administration: (surface) => [
      catalogueRoute(createResourceRoutes({ ...surface, ...own }), {
        clock,
        catalogue,
        listServedModels,
        isSystemVisible,
      }),
    ],
  }
}
