import Type, { type Static } from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import { boundedArm, deniesMore, type BoundedArm } from '../../../domain/evaluation/spikes/arms.ts'
import type { DecisionHours, RolloutArms } from '../../../domain/evaluation/spikes/decision-counts.ts'
import { minuteOf } from '../../../domain/evaluation/spikes/spike.ts'
import { upperBoundBp } from '../../../domain/gate/bound.ts'
import { findPolicy, type PolicyAdministration } from '../../../domain/policy/mutations.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { flag, integer, text } from '../../described.ts'
import { none, orNull } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { policyAt } from './decode.ts'
import { managedPolicy, presentPolicy } from './present.ts'
import { RollOut } from './publication-schema.ts'
import { Policy, policyExampleId, PolicyParams } from './schema.ts'

const path = '/v1/organization/policies/{policy_id}/rollout'

const Arm = Type.Object(
  {
    side: Type.Enum(['enforced', 'observed'], {
      description: '`enforced`: those it is enforced for. `observed`: the others, whose matches are only recorded.',
    }),
    callers: integer(
      'Distinct callers: a key, and the user that the request names. Those let through by an exception are on neither side.',
    ),
    denied_callers: integer('Of these, those with a request that matched. On the side `enforced` it was denied.'),
    low_bp: integer('The share of denied callers is at least this, at 95 %, in basis points.'),
    bound_bp: integer('It is at most this, at 95 %.'),
    requests: integer('Requests on which it was evaluated. Of the side `observed`, also those of exceptions.'),
    matches: integer('Of these, those that matched.'),
  },
  { title: 'RolloutArm' },
)

const Step = Type.Object(
  {
    percent: integer('A share of users.'),
    added_denials: integer('How many more requests would have been denied with it than with the present share.'),
  },
  { title: 'RolloutStep' },
)

const RolloutObject = Type.Object(
  {
    object: Type.Literal('organization.policy.rollout'),
    policy_id: text('The policy.'),
    version: orNull(Type.Integer(), 'The current version; null before the first publication.'),
    percent: integer('The share of users that it is enforced for.'),
    arms: Type.Array(Arm, { description: 'Both sides in the last hour.' }),
    denies_more: flag(
      'Whether more callers of the enforced side are denied than callers of the other side match, by more than chance.',
    ),
    matches_7d: integer('Matches of the current version that were only recorded, in the last seven days.'),
    steps: Type.Array(Step, {
      description:
        'Higher shares, with an estimate from `matches_7d`: each recorded match counts by the part of the other side that the share adds.',
    }),
  },
  {
    title: 'PolicyRolloutReport',
    examples: [
      {
        object: 'organization.policy.rollout',
        policy_id: policyExampleId,
        version: 1,
        percent: 10,
        arms: [
          { side: 'enforced', callers: 40, denied_callers: 1, low_bp: 12, bound_bp: 1130, requests: 310, matches: 2 },
          {
            side: 'observed',
            callers: 366,
            denied_callers: 9,
            low_bp: 128,
            bound_bp: 425,
            requests: 2750,
            matches: 12,
          },
        ],
        denies_more: false,
        matches_7d: 180,
        steps: [
          { percent: 50, added_denials: 80 },
          { percent: 100, added_denials: 180 },
        ],
      },
    ],
  },
)

export type RolloutBody = Static<typeof RolloutObject>

export type RolloutStores = {
  readonly policies: PolicyStore
  readonly decisions: DecisionHours & RolloutArms
}

const hourMs = 3_600_000
const weekHours = 168
const steps = [1, 10, 50, 100]

/** The share of users that a policy is enforced for, and how both sides do. */
export function rolloutRoutes(
  { read, mutation }: AdminRoutes<RolloutStores>,
  { policies: operations, clock }: { readonly policies: Pick<PolicyAdministration, 'rollOut'>; readonly clock: Clock },
): Route[] {
  return [
    read({
      name: 'getPolicyRollout',
      path,
      summary: 'Compare the sides of a rollout',
      description:
        'Callers are counted within a few seconds. A node counts at most 16 of each key and 64 keys of a version, so with few keys they are a sample: those that were active first.',
      permission: 'policies:read',
      params: PolicyParams,
      query: none,
      answer: { description: 'The rollout.', schema: RolloutObject },
      async operation(stores, { actor, params }) {
        const organizationId = actor.organization.id
        const {
          id,
          published,
          rolloutPercent: percent,
        } = await findPolicy(stores.policies, organizationId, params.policy_id)
        const version = published?.version ?? 0
        const nowMs = clock.nowMs()
        const monitored = { organizationId, subject: id, version }
        const arms = (await stores.decisions.arms(monitored, minuteOf(nowMs))).map((arm) =>
          boundedArm(arm, upperBoundBp),
        )
        const hours = await stores.decisions.hours(organizationId, [id], Math.floor(nowMs / hourMs) - weekHours)
        const recorded = hours
          .filter((hour) => hour.version === version)
          .reduce((sum, { recordedDenials }) => sum + recordedDenials, 0)
        const enforcedPercent = published?.mode === 'enforcing' ? percent : 0
        return {
          object: 'organization.policy.rollout' as const,
          policy_id: id,
          version: published?.version ?? null,
          percent,
          arms: arms.map(presentArm),
          denies_more: deniesMore(arms),
          matches_7d: recorded,
          steps: steps
            .filter((step) => step > enforcedPercent)
            .map((step) => ({
              percent: step,
              added_denials: Math.round((recorded * (step - enforcedPercent)) / (100 - enforcedPercent)),
            })),
        }
      },
    }),
    mutation({
      name: 'rollOutPolicy',
      method: 'POST',
      path,
      summary: 'Change the share of users that a policy is enforced for',
      description:
        'Makes no new version. The same users stay on the enforced side when the share rises. Responds with 409 `invalid_state` if the current version is not enforcing.',
      permission: 'policies:publish',
      params: PolicyParams,
      query: none,
      body: RollOut,
      answer: { description: 'The policy.', schema: Policy },
      operation: ({ policies }, input) =>
        operations.rollOut(policies, policyAt(input, input.body.revision), input.body.percent),
      managed: managedPolicy,
      present: presentPolicy,
    }),
  ]
}

const presentArm = (arm: BoundedArm) => ({
  side: arm.side,
  callers: arm.callers,
  denied_callers: arm.matchedCallers,
  low_bp: arm.lowBp,
  bound_bp: arm.highBp,
  requests: arm.requests,
  matches: arm.matches,
})
