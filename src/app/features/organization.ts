import packageFile from '../../../package.json' with { type: 'json' }
import { grantStore } from '../../adapters/stores/sql/credits/grants.ts'
import { applyLeaseStore } from '../../adapters/stores/sql/identity/apply-leases.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { memberStore } from '../../adapters/stores/sql/identity/members.ts'
import { grantStartingCredits } from '../../domain/credits/payments.ts'
import type { GrantStore } from '../../domain/credits/ledger-store.ts'
import { judgeStore } from '../../adapters/stores/sql/judges/judges.ts'
import { createDirectory } from '../../domain/identity/directory.ts'
import { createKeyDigests } from '../../domain/identity/key-digests.ts'
import { createOrganizations } from '../../domain/identity/organizations.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import { applyLeaseRoutes } from '../../http/admin/organization/apply-lease-routes.ts'
import { organizationRoutes } from '../../http/admin/organization/routes.ts'
import { organizationRoutes as operatorOrganizationRoutes } from '../../http/operator/organizations.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import { featuresOf } from '../enabled-features.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** Organizations: the first start, names and plans, who the caller is, and the lease of `apply`. */
export function createOrganization({ config, database, clock, random, ids, keyring, stores }: FeatureParts): Feature {
  const own = stores.of((tx) => ({
    directory: directoryStore(tx),
    members: memberStore(tx),
    judges: judgeStore(tx),
    applyLeases: applyLeaseStore(tx),
  }))
  const created = stores.of((tx) => ({
    directory: directoryStore(tx),
    grants: grantStore(tx, { ids, clock, engine: database.engine }),
  }))
  const { starting: startingCredits, administrators_manage: administratorsManageCredits } = config.credits
  const organizations = createOrganizations<{ readonly directory: DirectoryStore; readonly grants: GrantStore }>({
    directory: createDirectory({ ids, clock, random, digests: createKeyDigests(keyring) }),
    startingCredits,
    grantStartingCredits: ({ grants }, organizationId) =>
      grantStartingCredits(grants, { organizationId, credits: startingCredits }),
  })
  const shown = {
    administratorsManageCredits,
    features: featuresOf(config),
    tags: config.budgets.tags,
    version: packageFile.version,
  }
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      const { inferenceUrl } = surface
      return [...organizationRoutes(routes, { ...shown, inferenceUrl }), ...applyLeaseRoutes(routes, clock)]
    },
    operator: () => operatorOrganizationRoutes({ ...created, organizations, ids }),
  }
}
