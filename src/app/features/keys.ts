import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { createAuditedDirectory } from '../../domain/identity/audited-directory.ts'
import { createDirectory } from '../../domain/identity/directory.ts'
import { createKeyChanges } from '../../domain/identity/key-changes.ts'
import { createKeyDigests } from '../../domain/identity/key-digests.ts'
import { adminKeyRoutes } from '../../http/admin/admin-keys/routes.ts'
import { apiKeyRoutes } from '../../http/admin/api-keys/routes.ts'
import { operatorKeyRoutes } from '../../http/admin/operator-keys.ts'
import { projectRoutes } from '../../http/admin/projects/routes.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** Projects, API keys and administrator keys. */
export function createKeys({ config, clock, random, ids, keyring, stores }: FeatureParts): Feature {
  const own = stores.of((tx) => ({ directory: directoryStore(tx) }))
  const digests = createKeyDigests(keyring)
  const directory = createAuditedDirectory(createDirectory({ ids, clock, random, digests }))
  const keyChanges = createKeyChanges({ clock, random, digests })
  const keyDefaults = { permissions: config.keys.default_permissions }
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [
        ...adminKeyRoutes(routes, { directory, keyChanges, clock }),
        ...projectRoutes(routes, directory),
        ...apiKeyRoutes(routes, { directory, keyChanges, keyDefaults, clock }),
      ]
    },
    operator: (surface) => operatorKeyRoutes(createResourceRoutes({ ...surface, ...own }), directory),
  }
}
