import type { Static } from 'typebox'
import {
  percentile,
  readTraffic,
  type TrafficFilter,
  type TrafficGroup,
  type TrafficSum,
  type TrafficStore,
} from '../../../domain/traffic/traffic.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import { TrafficObject, TrafficQuery } from './schema.ts'
import { spanOf, type SteppedSpan } from './span.ts'
import type { Clock } from '../../../base/clock.ts'

const microPerUsd = 1_000_000

/** `/v1/organization/traffic`: how many requests there were, and what became of them. */
export function trafficRoute(
  { read }: AdminReads<{ readonly traffic: Pick<TrafficStore, 'sums'> }>,
  clock: Clock,
): Route {
  return read({
    name: 'getTraffic',
    path: '/v1/organization/traffic',
    summary: 'Read traffic',
    description:
      'Requests over time by decision, status, model, project, upstream or key, with errors and latency. A request counts once its audit event is written. Sums are kept by minute for 2 days, by hour for 92 days and by day for 1,100 days; for a time without shorter steps, the whole longer step counts at its start. The filters are those of the list of requests that the sums have; they cannot be combined with `group_by=key`.',
    permission: 'audit:read',
    isReport: true,
    params: none,
    query: TrafficQuery,
    answer: { description: 'Requests by step.', schema: TrafficObject },
    async operation({ traffic }, { actor, query }) {
      const span = spanOf(query, clock.nowMs() / 1000)
      const { id: organizationId } = actor.organization
      const filter = trafficFilterOf(query)
      const sums = await readTraffic(traffic, { organizationId, ...span, groupBy: query.group_by, filter })
      return presentTraffic(query, span, sums)
    },
  })
}

function trafficFilterOf(query: Static<typeof TrafficQuery>): TrafficFilter {
  const filter = {
    is: omitUndefined({
      decision: query.decision,
      status: query.status,
      model: query.model,
      projectId: query.project_id,
    }),
    isNot: omitUndefined({
      decision: query.not_decision,
      status: query.not_status,
      model: query.not_model,
      projectId: query.not_project_id,
    }),
  }
  const isFiltered = Object.keys(filter.is).length > 0 || Object.keys(filter.isNot).length > 0
  if (isFiltered && query.group_by === 'key')
    throw invalidField(
      ['group_by'],
      'must not be key together with a filter, because the sums by key have no other field',
    )
  return filter
}

function presentTraffic(
  { step: name, group_by: groupBy }: Static<typeof TrafficQuery>,
  { from, to, step }: SteppedSpan,
  sums: readonly TrafficSum[],
): Static<typeof TrafficObject> {
  const byStart = Map.groupBy(sums, ({ startTime }) => startTime)
  const starts = Array.from({ length: Math.ceil((to - from) / step) }, (_, at) => from + at * step)
  return {
    object: 'organization.traffic',
    step: name,
    data: starts.map((start) => ({
      start_time: start,
      results: (byStart.get(start) ?? []).map((sum) => presentSum(sum, groupBy)),
    })),
  }
}

function presentSum(sum: TrafficSum, groupBy: TrafficGroup | undefined) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(sum.latency, share))
  return {
    ...(groupBy !== undefined && { [groupBy]: sum.group ?? '' }),
    requests: sum.requests,
    denied: sum.denied,
    errors: sum.errors,
    input_tokens: sum.inputTokens,
    output_tokens: sum.outputTokens,
    cost_usd: sum.costMicroUsd / microPerUsd,
    latency_ms: p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 },
  }
}
