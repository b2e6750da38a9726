import type { Static } from 'typebox'
import { contentChanges } from '../../../domain/policy/content.ts'
import type { PolicyAt } from '../../../domain/policy/mutations.ts'
import type { NewPolicy, PolicyPatch } from '../../../domain/policy/lifecycle.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'

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
