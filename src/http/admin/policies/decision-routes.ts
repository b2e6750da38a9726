import Type, { type Static } from 'typebox'
import { gatewaySubject } from '../../../domain/evaluation/spikes/counted-decisions.ts'
import type { HourCount, DecisionHours } from '../../../domain/evaluation/spikes/decision-counts.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import { integer } from '../../described.ts'
import { none, timeFilter, unixTime } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { PolicyParams } from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

const hourSeconds = 3_600
const weekHours = 7 * 24

const DecisionQuery = Type.Object(
  {
    from: timeFilter(
      'Start of the period, Unix seconds. Default: seven days ago. Counts are kept by hour for 92 days, and then by day.',
    ),
  },
  { additionalProperties: false },
)

const Counted = Type.Object({
  requests: integer('Requests on which it was evaluated.'),
  denied: integer('Of these, those to deny: refused or escalated.'),
})

const DecisionHoursObject = Type.Object(
  {
    object: Type.Literal('organization.decision_counts'),
    data: Type.Array(
      Type.Object({
        start_time: unixTime('Start of the hour.'),
        version: integer('The version that decided.'),
        enforced: { ...Counted, description: 'Where its decision took effect.' },
        recorded: {
          ...Counted,
          description: 'Where its decision was only recorded: in monitoring, as shadow, or outside of a canary.',
        },
      }),
      { description: 'Hours and versions with at least one request, in order.' },
    ),
  },
  {
    title: 'DecisionCounts',
    examples: [
      {
        object: 'organization.decision_counts',
        data: [
          {
            start_time: 1_767_225_600,
            version: 3,
            enforced: { requests: 120, denied: 2 },
            recorded: { requests: 1080, denied: 25 },
          },
        ],
      },
    ],
  },
)

const answer = { description: 'The counts by hour.', schema: DecisionHoursObject }
const description =
  'How many requests it was evaluated on, and how many of them it denied or would have denied. Rules that could not be evaluated do not count. New requests are counted within a few seconds; a node that crashes loses its last two seconds.'

/** What a policy, and the gateway configuration, decided by the hour. */
export function decisionRoutes(
  { read }: AdminReads<{ readonly policies: PolicyStore; readonly decisions: DecisionHours }>,
  clock: Clock,
): Route[] {
  const firstHour = ({ from }: Static<typeof DecisionQuery>): number =>
    Math.floor((from ?? clock.nowMs() / 1000) / hourSeconds) - (from === undefined ? weekHours : 0)
  return [
    read({
      name: 'getPolicyDecisions',
      path: '/v1/organization/policies/{policy_id}/decisions',
      summary: 'Count the decisions of a policy',
      description,
      permission: 'policies:read',
      params: PolicyParams,
      query: DecisionQuery,
      answer,
      async operation({ policies, decisions }, { actor, params, query }) {
        const { id } = await findPolicy(policies, actor.organization.id, params.policy_id)
        return presentHours(await decisions.hours(actor.organization.id, [id], firstHour(query)))
      },
    }),
    read({
      name: 'getGatewayDecisions',
      path: '/v1/organization/gateway/decisions',
      summary: 'Count the decisions of the gateway configuration',
      description,
      permission: 'gateway:read',
      params: none,
      query: DecisionQuery,
      answer,
      operation: async ({ decisions }, { actor, query }) =>
        presentHours(await decisions.hours(actor.organization.id, [gatewaySubject], firstHour(query))),
    }),
  ]
}

const presentHours = (counts: readonly HourCount[]): Static<typeof DecisionHoursObject> => ({
  object: 'organization.decision_counts',
  data: counts.map(({ hour, version, requests, denials, recordedRequests, recordedDenials }) => ({
    start_time: hour * hourSeconds,
    version,
    enforced: { requests, denied: denials },
    recorded: { requests: recordedRequests, denied: recordedDenials },
  })),
})
