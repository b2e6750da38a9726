import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { organizationModelStore } from '../../adapters/stores/sql/models/organization-models.ts'
import { createModelAdministration } from '../../domain/organization-models/models.ts'
import { createUpstreamAdministration } from '../../domain/organization-models/upstreams.ts'
import { catalogueRoutes } from '../../http/admin/models/routes.ts'
import { upstreamRoutes } from '../../http/admin/upstreams/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { describeStoredModel, describeStoredUpstream } from '../upstreams/describe-stored.ts'
import { entrySchemas } from '../upstreams/entry-schemas.ts'
import { createUpstreamAddressCheck } from '../upstreams/own-upstreams.ts'
import type { Feature, FeatureParts, RunningServerParts } from './feature.ts'

/** The models that an organization can use, and the upstreams that run them. */
export function createModels(
  { config, clock, ids, stores }: FeatureParts,
  { modelSetOf, installation }: Pick<RunningServerParts, 'modelSetOf' | 'installation'>,
): Feature {
  const { listServedModels, upstreams, node, entries } = installation
  const own = stores.of((tx) => ({
    directory: directoryStore(tx),
    organizationModels: organizationModelStore(tx, stores.encryptions.upstreamSecrets),
  }))
  const isSystemVisible = config.administration.system_visible
  const findAddressProblem = createUpstreamAddressCheck(config)
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...catalogueRoutes(routes, {
          clock,
          modelSetOf,
          listServedModels,
          describeModel: describeStoredModel(entries),
          models: createModelAdministration({ installation: entries, ids, clock }),
          schemas: entrySchemas.model,
          isSystemVisible,
        }),
        ...upstreamRoutes(routes, {
          clock,
          upstreams,
          node,
          administration: createUpstreamAdministration({ installation: entries, findAddressProblem, ids, clock }),
          schemas: entrySchemas.upstream,
          presentStored: describeStoredUpstream(entries),
          isSystemVisible,
        }),
      ]
    },
  }
}
