import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { entryIn } from '../../../domain/organization-models/upstreams.ts'
import { none } from '../../resources/fields.ts'
import { admitRequest, type ResourceLimitParts } from '../../resources/limit.ts'
import type { Route } from '../../route.ts'
import { entryParams } from '../models/stored.ts'
import type { AdminRoutes } from '../routes.ts'
import { requireSystemAccess } from '../system/authority.ts'
import { presentProbe } from './present.ts'
import type { UpstreamRouteParts, UpstreamStores } from './parts.ts'
import { OfferedModels, ProbeObject, UpstreamParams, UpstreamTestObject } from './schema.ts'

type CallParts = UpstreamRouteParts & { readonly limits: ResourceLimitParts['limits'] }

/** The routes that call an upstream. */
export function callRoutes({ read, mutation }: AdminRoutes<UpstreamStores>, parts: CallParts): Route[] {
  const { clock, upstreams, node, limits, schemas, administration } = parts

  /** An upstream of the installation needs the access to the installation; one of the organization is its own. */
  const requireAccess = async (actor: Administrator, idOrName: string, permission: 'system:read' | 'system:probe') => {
    const own = await upstreams.listOwn(actor.organization.id)
    const entries = own.map(({ name, stored }) => ({ name, id: stored?.id ?? '' }))
    const isInstalled = upstreams.list().some(({ name }) => name === idOrName)
    if (!isInstalled && entryIn(entries, { idOrName }) !== undefined) return
    requirePermission(actor.permissions, permission)
    requireSystemAccess(actor, parts)
  }

  return [
    read({
      name: 'listOfferedModels',
      path: '/v1/organization/upstreams/{upstream_id}/models',
      summary: 'List the models that an upstream offers',
      description:
        'Asks the upstream, at most every 30 seconds. The list is null if the upstream has none or does not answer. An upstream of the installation needs the permission `system:read`.',
      permission: 'system:read',
      orPermission: 'models:write',
      params: entryParams.upstream,
      query: none,
      answer: { description: 'The names of the models at the upstream.', schema: OfferedModels },
      async operation(_, { actor, params }) {
        await requireAccess(actor, params.upstream_id, 'system:read')
        const models = await upstreams.offered(actor.organization.id, params.upstream_id)
        return { object: 'organization.upstream_models' as const, upstream: params.upstream_id, models: models ?? null }
      },
    }),
    mutation({
      name: 'testUpstream',
      method: 'POST',
      path: '/v1/organization/upstreams/test',
      summary: 'Test an upstream before it is added',
      description:
        'Lists the models of the upstream, and calls `model`, or one of the list, for one output token. Nothing is stored except an audit event. At most six times per minute for an organization, together with the probes.',
      permission: 'models:write',
      params: none,
      query: none,
      body: schemas.test,
      answer: { description: 'The result of the calls.', schema: UpstreamTestObject },
      async prepare(_, { actor, body }) {
        const { model, ...settings } = body
        administration.requireUsable(settings, await administration.newAddressProblem(settings))
        using _call = admitRequest({ limits, clock }, actor)
        return await upstreams.test(settings, typeof model === 'string' ? model : undefined)
      },
      async operation(_, { body, prepared }) {
        const test = prepared ?? (await upstreams.test(body, undefined))
        const details = { kind: body['kind'], base_url: body['base_url'], success: test.error === null }
        return { value: test, record: { kind: 'upstream.tested', resourceId: 'new', details } }
      },
      present: ({ model, tookMs, error, models }) => ({
        object: 'organization.upstream_test',
        model,
        success: error === null,
        ms: tookMs,
        error: error && { ...error },
        models: [...models],
      }),
    }),
    mutation({
      name: 'probeUpstream',
      method: 'POST',
      path: '/v1/organization/upstreams/{upstream}/probe',
      summary: 'Call an upstream for one token',
      description:
        'Sends a real request for one output token from the node that answers, and waits for at most 20 seconds. No organization pays for it. A success ends the cooldown of the upstream on this node. At most six times per minute for an organization. An upstream of the installation needs the permission `system:probe`, one of the organization also accepts `models:write`.',
      permission: 'system:probe',
      orPermission: 'models:write',
      params: UpstreamParams,
      query: none,
      body: none,
      answer: { description: 'The result of the call.', schema: ProbeObject },
      async prepare(_, { actor, params }) {
        await requireAccess(actor, params.upstream, 'system:probe')
        using _probe = admitRequest({ limits, clock }, actor)
        return await upstreams.probe(actor.organization.id, params.upstream)
      },
      async operation(_, { actor, params: { upstream }, prepared }) {
        const probe = prepared ?? (await upstreams.probe(actor.organization.id, upstream))
        const details = {
          model: probe.model,
          success: probe.error === null,
          ms: probe.tookMs,
          error: probe.error?.code,
        }
        return { value: { upstream, probe }, record: { kind: 'upstream.probed', resourceId: upstream, details } }
      },
      present: ({ upstream, probe }) => presentProbe(upstream, probe, node),
    }),
  ]
}
