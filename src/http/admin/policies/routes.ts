import { findPolicy, type PolicyAdministration } from '../../../domain/policy/mutations.ts'
import type { Route } from '../../route.ts'
import { requireSameRevision, revisionTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import { presentList } from '../../resources/list.ts'
import type { AdminRoutes } from '../routes.ts'
import { newPolicyOf, patchOf, policyAt, policyPageOf } from './decode.ts'
import { managedPolicy, presentDeletedPolicy, presentPolicy, presentSummary } from './present.ts'
import { firstHour, statsOf } from './stats.ts'
import * as Schema from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DecisionHours } from '../../../domain/evaluation/spikes/decision-counts.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

const policies = '/v1/organization/policies'
const policy = `${policies}/{policy_id}`

const updateLimitBytes = 64 * 1024

const answer = { description: 'The policy.', schema: Schema.Policy }

type PolicyReads = { readonly policies: PolicyStore; readonly decisions: DecisionHours }

/** `/v1/organization/policies`: policies and their drafts. */
export function policyRoutes(
  { read, mutation }: AdminRoutes<PolicyReads>,
  operations: PolicyAdministration,
  clock: Clock,
): Route[] {
  return [
    read({
      name: 'listPolicies',
      isManaged: true,
      path: policies,
      summary: 'List policies',
      permission: 'policies:read',
      params: none,
      query: Schema.PolicyQuery,
      answer: { description: 'A page of policies, without drafts and versions.', schema: Schema.PolicyList },
      async operation(reads, { actor, query }) {
        const { id } = actor.organization
        const page = await reads.policies.list(id, policyPageOf(query))
        if (query.include === undefined) return presentList(page, presentSummary)
        const ids = page.items.map((each) => each.id)
        const stats = statsOf(await reads.decisions.hours(id, ids, firstHour(clock)), firstHour(clock))
        return presentList(page, (each) => ({
          ...presentSummary(each),
          mode: each.mode,
          scope: each.scope,
          stats: stats(each.id),
        }))
      },
    }),
    mutation({
      name: 'createPolicy',
      method: 'POST',
      path: policies,
      summary: 'Create a policy',
      description:
        'Creates a draft. The policy has no effect until it is published. Names are unique in an organization: another policy with the name in any case is 409 `duplicate_name`.',
      permission: 'policies:write',
      params: none,
      query: none,
      body: Schema.CreatePolicy,
      status: 201,
      answer: { ...answer, example: Schema.draftExample },
      operation: ({ policies: store }, { actor, body }) =>
        operations.create(store, actor.organization.id, newPolicyOf(body)),
      managed: managedPolicy,
      present: presentPolicy,
    }),
    read({
      name: 'getPolicy',
      isManaged: true,
      path: policy,
      summary: 'Read a policy',
      permission: 'policies:read',
      params: Schema.PolicyParams,
      query: none,
      answer,
      tag: revisionTag,
      operation: async (reads, { actor, params }) =>
        presentPolicy(await findPolicy(reads.policies, actor.organization.id, params.policy_id)),
    }),
    mutation({
      name: 'updatePolicy',
      method: 'PATCH',
      path: policy,
      summary: 'Update a policy draft',
      description:
        'Changes the draft; the current version stays in effect until the draft is published. Name and description change at once.',
      permission: 'policies:write',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.UpdatePolicy,
      bodyLimitBytes: updateLimitBytes,
      answer,
      takesIfMatch: true,
      operation({ policies: store }, { body: { revision, ...patch }, ifMatch, ...input }) {
        requireSameRevision(ifMatch, revision)
        return operations.update(store, policyAt(input, revision), patchOf(patch))
      },
      managed: managedPolicy,
      present: presentPolicy,
      tag: revisionTag,
    }),
    mutation({
      name: 'deletePolicy',
      method: 'DELETE',
      path: policy,
      summary: 'Delete a policy',
      description: 'The policy stops at once. Its versions stay readable in the audit log.',
      permission: 'policies:write',
      params: Schema.PolicyParams,
      query: Schema.DeleteQuery,
      body: none,
      answer: { description: 'The id of the deleted policy.', schema: Schema.DeletedPolicy },
      operation: ({ policies: store }, input) => operations.remove(store, policyAt(input, input.query.revision)),
      removes: ({ id }) => ({ id }),
      present: presentDeletedPolicy,
    }),
  ]
}
