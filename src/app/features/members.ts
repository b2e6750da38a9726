import { consoleSessionStore } from '../../adapters/stores/sql/identity/console-sessions.ts'
import { directoryStore } from '../../adapters/stores/sql/identity/directory.ts'
import { memberStore } from '../../adapters/stores/sql/identity/members.ts'
import { createMembers } from '../../domain/members/members.ts'
import { memberRoutes } from '../../http/admin/members/routes.ts'
import { signInListRoutes } from '../../http/admin/sign-ins/routes.ts'
import { consoleLinkRoute } from '../../http/operator/console-link.ts'
import { createResourceRoutes } from '../../http/resources/route.ts'
import type { Feature, FeatureParts } from './feature.ts'

/** Members, and who is signed in to the console. */
export function createMemberFeature({ clock, random, ids, stores }: FeatureParts): Feature {
  const own = stores.of((tx) => ({
    directory: directoryStore(tx),
    members: memberStore(tx),
    sessions: consoleSessionStore(tx),
  }))
  const members = createMembers({ ids, clock })
  return {
    administration(surface) {
      const routes = createResourceRoutes({ ...surface, ...own })
      return [...memberRoutes(routes, members), ...signInListRoutes(routes, clock)]
    },
    operator: (surface) => {
      const { consoleUrl } = surface
      return [consoleLinkRoute(createResourceRoutes({ ...surface, ...own }), { clock, random, consoleUrl })]
    },
  }
}
