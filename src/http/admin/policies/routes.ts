import { findPolicy, type PolicyAt } from '../../../domain/policy/administer.ts'
import type { Policy } from '../../../domain/policy/policy.ts'
import { isEvaluable } from '../../../domain/policy/rule.ts'
import type { Route } from '../../route.ts'
import { none } from '../../managed-fields.ts'
import { pageOf, presentList } from '../../list.ts'
import type { AdminParts, AdminRoutes } from '../parts.ts'
import { newPolicyOf, patchOf } from './decode.ts'
import { presentDeleted, presentPolicy, presentSummary, presentVersion } from './present.ts'
import * as Schema from './schema.ts'

const policies = '/v1/organization/policies'
const policy = `${policies}/{policy_id}`

const updateLimitBytes = 64 * 1024

const answer = { description: 'The policy.', schema: Schema.Policy }
const published = {
  description: 'The policy. `x-gatehouse-warning: rule_not_evaluable` says that nobody can judge its rule yet.',
  schema: Schema.Policy,
}

/** `/v1/organization/policies`: contract 4.1 to 4.5, and what they are of no use without. */
export function policyRoutes({ question, change }: AdminRoutes, { policies: operations }: AdminParts): Route[] {
  return [
    question({
      path: policies,
      summary: 'List policies',
      permission: 'policies:read',
      params: none,
      query: Schema.PolicyQuery,
      answer: { description: 'A page of policies, without drafts and versions.', schema: Schema.PolicyList },
      operation: async (reads, { who, query }) =>
        presentList(await reads.policies.list(who.organization.id, pageOf(query)), presentSummary),
    }),
    change({
      method: 'POST',
      path: policies,
      summary: 'Create a policy',
      description: 'It begins as a draft and does nothing until it is published.',
      permission: 'policies:write',
      params: none,
      query: none,
      body: Schema.CreatePolicy,
      status: 201,
      answer,
      operation: ({ policies: store }, { who, body }) =>
        operations.create(store, who.organization.id, newPolicyOf(body)),
      present: presentPolicy,
    }),
    question({
      path: policy,
      summary: 'Read a policy',
      permission: 'policies:read',
      params: Schema.PolicyParams,
      query: none,
      answer,
      operation: async (reads, { who, params }) =>
        presentPolicy(await findPolicy(reads.policies, who.organization.id, params.policy_id)),
    }),
    change({
      method: 'PATCH',
      path: policy,
      summary: 'Update a policy draft',
      description: 'What is in force stays as it is until the draft is published; name and description change at once.',
      permission: 'policies:write',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.UpdatePolicy,
      bodyLimitBytes: updateLimitBytes,
      answer,
      operation: ({ policies: store }, { body: { revision, ...said }, ...input }) =>
        operations.update(store, at(input, revision), patchOf(said)),
      present: presentPolicy,
    }),
    change({
      method: 'DELETE',
      path: policy,
      summary: 'Delete a policy',
      description: 'It stops at once. Its versions stay readable in the audit log.',
      permission: 'policies:write',
      params: Schema.PolicyParams,
      query: Schema.DeleteQuery,
      body: none,
      answer: { description: 'It is gone.', schema: Schema.DeletedPolicy },
      operation: ({ policies: store }, input) => operations.remove(store, at(input, input.query.revision)),
      present: presentDeleted,
    }),
    change({
      method: 'POST',
      path: `${policy}/publish`,
      summary: 'Publish a policy draft',
      description: 'Writes a version that never changes and puts it in force; a paused policy stays paused.',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.AtRevision,
      answer: published,
      operation: ({ policies: store }, input) => operations.publish(store, at(input, input.body.revision)),
      present: presentPolicy,
      headers: warningOf,
    }),
    change({
      method: 'POST',
      path: `${policy}/pause`,
      summary: 'Pause a policy',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.AtRevision,
      answer,
      operation: ({ policies: store }, input) => operations.pause(store, at(input, input.body.revision)),
      present: presentPolicy,
    }),
    change({
      method: 'POST',
      path: `${policy}/resume`,
      summary: 'Resume a policy',
      description: 'It goes back to the mode of its current version.',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.AtRevision,
      answer,
      operation: ({ policies: store }, input) => operations.resume(store, at(input, input.body.revision)),
      present: presentPolicy,
    }),
    change({
      method: 'POST',
      path: `${policy}/rollback`,
      summary: 'Roll a policy back',
      description: 'Publishes the content of an earlier version again, as a new version. The draft becomes the same.',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: Schema.RollBack,
      answer: published,
      operation: ({ policies: store }, input) =>
        operations.rollBack(store, at(input, input.body.revision), input.body.version),
      present: presentPolicy,
      headers: warningOf,
    }),
    question({
      path: `${policy}/versions`,
      summary: 'List the versions of a policy',
      permission: 'policies:read',
      params: Schema.PolicyParams,
      query: Schema.PolicyQuery,
      answer: { description: 'A page of versions.', schema: Schema.VersionList },
      async operation({ policies: store }, { who, params, query }) {
        const found = await findPolicy(store, who.organization.id, params.policy_id)
        return presentList(await store.listVersions(found, pageOf(query)), (version) => presentVersion(version, found))
      },
    }),
  ]
}

type Named = {
  readonly who: { readonly organization: { readonly id: string } }
  readonly params: { readonly policy_id: string }
}

const at = ({ who, params }: Named, revision: number): PolicyAt => ({
  organizationId: who.organization.id,
  id: params.policy_id,
  revision,
})

/** A rule that nobody can judge is published all the same; whoever publishes it should know. */
const warningOf = ({ published: version }: Policy): Record<string, string> =>
  version && !isEvaluable(version.rule) ? { 'x-gatehouse-warning': 'rule_not_evaluable' } : {}
