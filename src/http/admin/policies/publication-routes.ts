import type { Clock } from '../../../base/clock.ts'
import type { JudgeFactsStore } from '../../../domain/gate/checks.ts'
import { findPolicy, findVersion, type PolicyAdministration } from '../../../domain/policy/mutations.ts'
import type { Policy } from '../../../domain/policy/policy.ts'
import { isEvaluable } from '../../../domain/policy/rule.ts'
import { gatewayHeader } from '../../gateway-headers.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import type { Route, RouteAnswer } from '../../route.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminReads, AdminRoutes } from '../routes.ts'
import { noteOf, policyAt } from './decode.ts'
import { managedPolicy, presentPolicy, presentPolicyVersion } from './present.ts'
import { AtRevision, RollBack } from './publication-schema.ts'
import { rolloutRoutes, type RolloutStores } from './rollout-routes.ts'
import * as Schema from './schema.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

const policy = '/v1/organization/policies/{policy_id}'

const answer = { description: 'The policy.', schema: Schema.Policy }
export const publishedAnswer: RouteAnswer = {
  description:
    'The policy. The header `x-gatehouse-warning: rule_not_evaluable` means that the service cannot evaluate its rule.',
  schema: Schema.Policy,
  headers: ['x-gatehouse-warning'],
}

export type WarningStores = { readonly judges: JudgeFactsStore }

/** A rule that cannot be evaluated is published nevertheless, with a warning. */
export async function evaluationWarning(
  { organizationId, published }: Policy,
  { judges }: WarningStores,
): Promise<Record<string, string>> {
  if (published === null || isEvaluable(published.rule)) return {}
  const hasJudge = (await judges.factsOf(organizationId)) !== undefined
  return hasJudge ? {} : gatewayHeader('x-gatehouse-warning', 'rule_not_evaluable')
}

/** Pause, resume, roll back, discard, and the share of users. */
export function publicationRoutes(
  routes: AdminRoutes<RolloutStores & WarningStores>,
  { policies: operations, clock }: { readonly policies: PolicyAdministration; readonly clock: Clock },
): Route[] {
  const { mutation } = routes
  return [
    mutation({
      name: 'pausePolicy',
      method: 'POST',
      path: `${policy}/pause`,
      summary: 'Pause a policy',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: AtRevision,
      answer: { ...answer, example: Schema.pausedExample },
      operation: ({ policies: store }, input) => operations.pause(store, policyAt(input, input.body.revision)),
      managed: managedPolicy,
      present: presentPolicy,
    }),
    mutation({
      name: 'resumePolicy',
      method: 'POST',
      path: `${policy}/resume`,
      summary: 'Resume a policy',
      description: 'The policy returns to the mode of its current version.',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: AtRevision,
      answer: publishedAnswer,
      operation: ({ policies: store }, input) => operations.resume(store, policyAt(input, input.body.revision)),
      managed: managedPolicy,
      present: presentPolicy,
      headers: evaluationWarning,
    }),
    mutation({
      name: 'rollbackPolicy',
      method: 'POST',
      path: `${policy}/rollback`,
      summary: 'Roll a policy back',
      description: 'Publishes the content of an earlier version as a new version, and replaces the draft with it.',
      permission: 'policies:publish',
      params: Schema.PolicyParams,
      query: none,
      body: RollBack,
      answer: publishedAnswer,
      operation: ({ policies: store }, input) =>
        operations.rollBack(store, policyAt(input, input.body.revision), {
          ...noteOf(input),
          version: input.body.version,
        }),
      managed: managedPolicy,
      present: presentPolicy,
      headers: evaluationWarning,
    }),
    mutation({
      name: 'discardPolicyDraft',
      method: 'POST',
      path: `${policy}/discard_draft`,
      summary: 'Discard the draft of a policy',
      description:
        'Resets the draft to the current version. Name and description stay. Responds with 409 if nothing was published yet, or if the draft is the same as the current version.',
      permission: 'policies:write',
      params: Schema.PolicyParams,
      query: none,
      body: AtRevision,
      answer,
      operation: ({ policies: store }, input) => operations.discardDraft(store, policyAt(input, input.body.revision)),
      managed: managedPolicy,
      present: presentPolicy,
    }),
    ...rolloutRoutes(routes, { policies: operations, clock }),
  ]
}

/** The published versions. */
export function versionRoutes({ read }: AdminReads<{ readonly policies: PolicyStore }>): Route[] {
  return [
    read({
      name: 'listPolicyVersions',
      path: `${policy}/versions`,
      summary: 'List the versions of a policy',
      permission: 'policies:read',
      params: Schema.PolicyParams,
      query: Schema.VersionQuery,
      answer: { description: 'A page of versions.', schema: Schema.VersionList },
      async operation({ policies: store }, { actor, params, query }) {
        const policyOfVersions = await findPolicy(store, actor.organization.id, params.policy_id)
        return presentList(await store.listVersions(policyOfVersions, pageOf(query)), (version) =>
          presentPolicyVersion(version, policyOfVersions),
        )
      },
    }),
    read({
      name: 'getPolicyVersion',
      path: `${policy}/versions/{version}`,
      summary: 'Read a version of a policy',
      permission: 'policies:read',
      params: Schema.VersionParams,
      query: none,
      answer: { description: 'The version.', schema: Schema.PolicyVersion },
      tag: contentTag,
      async operation({ policies: store }, { actor, params }) {
        const policyOfVersion = await findPolicy(store, actor.organization.id, params.policy_id)
        return presentPolicyVersion(await findVersion(store, policyOfVersion, params.version), policyOfVersion)
      },
    }),
  ]
}
