import type { Static } from 'typebox'
import { contentChanges } from '../../../domain/policy/content.ts'
import type { PolicyAt } from '../../../domain/policy/mutations.ts'
import type { NewPolicy, PolicyPatch, PublicationNote } from '../../../domain/policy/lifecycle.ts'
import type { PolicyPage } from '../../../domain/policy/store.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { pageOf } from '../../resources/list.ts'
import type { CreatePolicy, PolicyQuery, UpdatePolicy } from './schema.ts'

type PatchBody = Omit<Static<typeof UpdatePolicy>, 'revision'>

/** Null leaves the name and the description unchanged. */
export const patchOf = ({ name, description, ...content }: PatchBody): PolicyPatch => ({
  ...omitUndefined({ name, description }),
  ...contentChanges(content),
})

export const newPolicyOf = (body: Static<typeof CreatePolicy>): NewPolicy => ({
  ...patchOf(body),
  name: body.name,
  rule: body.rule,
})

export function policyPageOf(query: Static<typeof PolicyQuery>): PolicyPage {
  const { search, state, direction, mode, scope, project_id: projectId } = query
  const filter = { search, state, projectId, hasUnpublishedChanges: query.has_unpublished_changes }
  return { ...pageOf(query), ...omitUndefined(filter), content: omitUndefined({ direction, mode, scope }) }
}

type PolicyInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly policy_id: string }
}

/** The policy in the path, in the organization of the caller. */
export const policyAt = ({ actor, params }: PolicyInput, revision: number): PolicyAt => ({
  organizationId: actor.organization.id,
  id: params.policy_id,
  revision,
})

type PublicationInput = {
  readonly actor: { readonly id: string }
  readonly body: { readonly reason?: string | undefined }
}

export const noteOf = ({ actor, body }: PublicationInput): PublicationNote => ({
  publishedBy: actor.id,
  reason: body.reason ?? null,
})
