import type { GatedPublications } from '../../../domain/gate/publication.ts'
import type { GateStores } from '../../../domain/gate/runs.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { noteOf, policyAt } from './decode.ts'
import type { RunDraftCases } from './draft-cases.ts'
import { managedPolicy, presentPolicy } from './present.ts'
import { evaluationWarning, publishedAnswer } from './publication-routes.ts'
import { PublishPolicy } from './publication-schema.ts'
import { PolicyParams } from './schema.ts'

type PublishRouteParts = {
  readonly gated: GatedPublications
  readonly runDraftCases: RunDraftCases
}

/** Publishes a draft that has passed the publish gate. */
export const publishRoute = (
  { mutation }: AdminRoutes<GateStores>,
  { gated, runDraftCases }: PublishRouteParts,
): Route =>
  mutation({
    name: 'publishPolicy',
    method: 'POST',
    path: '/v1/organization/policies/{policy_id}/publish',
    summary: 'Publish a policy draft',
    description:
      'Creates an immutable version from the draft and makes it the current one. A paused policy stays paused. Responds with 409 `gate_not_passed` or `gate_stale` if the publish gate requires more; a draft that only lowers the mode to monitoring needs no gate.',
    permission: 'policies:publish',
    params: PolicyParams,
    query: none,
    body: PublishPolicy,
    answer: publishedAnswer,
    async prepare(reads, input) {
      const at = policyAt(input, input.body.revision)
      const isNamed = input.body.gate_run !== undefined
      return isNamed || !(await gated.needsCases(reads, at)) ? undefined : runDraftCases(reads, at, input.actor.id)
    },
    operation(stores, { prepared, ...input }) {
      const { gate_run: runId, override, revision, rollout_percent: rolloutPercent } = input.body
      if (override) requirePermission(input.actor.permissions, 'policies:override')
      const gate = { runId, overrideReason: override?.reason, outcome: prepared }
      return gated.publish(stores, policyAt(input, revision), { note: noteOf(input), rolloutPercent, ...gate })
    },
    managed: managedPolicy,
    present: presentPolicy,
    headers: evaluationWarning,
  })
