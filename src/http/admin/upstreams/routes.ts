import { createAdministrationLimits } from '../../../domain/identity/administration-limits.ts'
import { Fault } from '../../../base/fault.ts'
import { holds } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { Upstreams, UpstreamStatus } from '../../../domain/inference/upstream-status.ts'
import { entryIn } from '../../../domain/organization-models/upstreams.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { entryParams } from '../models/stored.ts'
import type { AdminRoutes } from '../routes.ts'
import { hasSystemAccess, type SystemVisibility } from '../system/authority.ts'
import { callRoutes } from './call-routes.ts'
import { upstreamMutations } from './mutations.ts'
import type { UpstreamRouteParts, UpstreamStores } from './parts.ts'
import { presentUpstream } from './present.ts'
import { UpstreamList, UpstreamObject } from './schema.ts'

/** Each call is one that somebody pays for. */
const callsPerMinute = { requestsPerMinute: 6, concurrentRequests: 2 }

/** `/v1/organization/upstreams`: the services that run models, as this node sees them. */
export function upstreamRoutes(routes: AdminRoutes<UpstreamStores>, parts: UpstreamRouteParts): Route[] {
  const { clock, upstreams, node } = parts
  const limits = createAdministrationLimits(clock, { credential: callsPerMinute, organization: callsPerMinute })
  return [
    routes.read({
      name: 'listUpstreams',
      isManaged: true,
      path: '/v1/organization/upstreams',
      summary: 'List the upstreams and their state',
      description:
        'Each node knows only the calls that it made since it started; `node` names the one that answered. At upstreams of the installation, the calls of all organizations count. These are listed for the permission `system:read`, unless `administration.system_visible` is false; those that the organization added for `system:read` or `models:write`.',
      permission: 'system:read',
      orPermission: 'models:write',
      params: none,
      query: none,
      answer: { description: 'The upstreams.', schema: UpstreamList },
      async operation(_, { actor }) {
        const all = await visibleUpstreams(upstreams, actor, parts)
        const data = all.map((upstream) => presentUpstream(upstream, clock.nowMs()))
        return { object: 'list' as const, node: seesInstallation(actor, parts) ? { ...node } : null, data }
      },
    }),
    routes.read({
      name: 'getUpstream',
      isManaged: true,
      path: '/v1/organization/upstreams/{upstream_id}',
      summary: 'Read an upstream and its state',
      description: 'By its id or its name. An upstream of the installation has only a name.',
      permission: 'system:read',
      orPermission: 'models:write',
      params: entryParams.upstream,
      query: none,
      answer: { description: 'The upstream.', schema: UpstreamObject },
      operation: async (_, { actor, params }) =>
        presentUpstream(await findVisible(upstreams, params.upstream_id, { actor, parts }), clock.nowMs()),
    }),
    ...upstreamMutations(routes, parts),
    ...callRoutes(routes, { ...parts, limits }),
  ]
}

/** The installation belongs to the operator, and is shown to administrators with the permission. */
const seesInstallation = (actor: Administrator, visibility: SystemVisibility): boolean =>
  hasSystemAccess(actor, visibility) && holds(actor.permissions, 'system:read')

async function visibleUpstreams(
  upstreams: Upstreams,
  actor: Administrator,
  visibility: SystemVisibility,
): Promise<readonly UpstreamStatus[]> {
  const shared = seesInstallation(actor, visibility) ? upstreams.list() : []
  return [...shared, ...(await upstreams.listOwn(actor.organization.id))]
}

async function findVisible(
  upstreams: Upstreams,
  idOrName: string,
  { actor, parts }: { readonly actor: Administrator; readonly parts: SystemVisibility },
): Promise<UpstreamStatus> {
  const all = await visibleUpstreams(upstreams, actor, parts)
  const found = entryIn(
    all.map((upstream) => ({ ...upstream, id: upstream.stored?.id ?? '' })),
    { idOrName },
  )
  if (found === undefined) throw new Fault('not_found', 'not_found', `There is no upstream ${idOrName}.`)
  return found
}
