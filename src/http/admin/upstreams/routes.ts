import type { Static } from 'typebox'
import { toUnixSeconds, type Clock } from '../../../base/clock.ts'
import { createAdministrationLimits } from '../../../domain/identity/administration-limits.ts'
import type { UpstreamProbe, Upstreams, UpstreamStatus } from '../../../domain/inference/upstream-status.ts'
import { none } from '../../resources/fields.ts'
import { admitRequest } from '../../resources/limit.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { requireSystemAccess, type NodeIdentity, type SystemVisibility } from '../system/authority.ts'
import { ProbeObject, UpstreamList, UpstreamParams } from './schema.ts'

type UpstreamParts = SystemVisibility & {
  readonly clock: Clock
  readonly upstreams: Upstreams
  readonly node: NodeIdentity
}

/** Each probe is a call that the operator pays for. */
const probesPerMinute = { requestsPerMinute: 6, concurrentRequests: 2 }

/** `/v1/organization/upstreams`: the services that run models, as this node sees them. */
export function upstreamRoutes({ read, mutation }: AdminRoutes<object>, parts: UpstreamParts): Route[] {
  const { clock, upstreams, node } = parts
  const limits = createAdministrationLimits(clock, { credential: probesPerMinute, organization: probesPerMinute })
  return [
    read({
      name: 'listUpstreams',
      path: '/v1/organization/upstreams',
      summary: 'List the upstreams and their state',
      description:
        'Each node knows only the calls that it made since it started; `node` names the one that answered. The calls of all organizations count. Where `administration.system_visible` is false, only the operator may read it.',
      permission: 'system:read',
      params: none,
      query: none,
      answer: { description: 'The upstreams.', schema: UpstreamList },
      async operation(_, { actor }) {
        requireSystemAccess(actor, parts)
        const data = upstreams.list().map((upstream) => presentUpstream(upstream, clock.nowMs()))
        return { object: 'list' as const, node: { ...node }, data }
      },
    }),
    mutation({
      name: 'probeUpstream',
      method: 'POST',
      path: '/v1/organization/upstreams/{upstream}/probe',
      summary: 'Call an upstream for one token',
      description:
        'Sends a real request for one output token from the node that answers, and waits for at most 20 seconds. No organization pays for it. A success ends the cooldown of the upstream on this node. At most six times per minute for an organization.',
      permission: 'system:probe',
      params: UpstreamParams,
      query: none,
      body: none,
      answer: { description: 'The result of the call.', schema: ProbeObject },
      async prepare(_, { actor, params }) {
        requireSystemAccess(actor, parts)
        using _probe = admitRequest({ limits, clock }, actor)
        return await upstreams.probe(params.upstream)
      },
      async operation(_, { params: { upstream }, prepared }) {
        const probe = prepared ?? (await upstreams.probe(upstream))
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

function presentUpstream(upstream: UpstreamStatus, nowMs: number): Static<typeof UpstreamList>['data'][number] {
  const { cooldownLeftMs, lastSuccessAtMs, lastError, p95Ms } = upstream
  return {
    object: 'organization.upstream',
    name: upstream.name,
    kind: upstream.kind,
    state: upstream.state,
    failures: upstream.failures,
    rest_until: cooldownLeftMs === 0 ? null : toUnixSeconds(nowMs + cooldownLeftMs),
    last_success_at: lastSuccessAtMs === null ? null : toUnixSeconds(lastSuccessAtMs),
    last_error: lastError && { code: lastError.code, at: toUnixSeconds(lastError.atMs) },
    in_flight: upstream.inFlight,
    max_concurrent: upstream.maxConcurrent,
    p95_ms: p95Ms === null ? null : Math.round(p95Ms),
    defined_in: { ...upstream.definedIn },
  }
}

const presentProbe = (
  upstream: string,
  { model, tookMs, error }: UpstreamProbe,
  node: NodeIdentity,
): Static<typeof ProbeObject> => ({
  object: 'organization.upstream_probe',
  upstream,
  model,
  success: error === null,
  ms: tookMs,
  error: error && { ...error },
  node: { ...node },
})
