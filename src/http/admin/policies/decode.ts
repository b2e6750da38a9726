import type { Static } from 'typebox'
import type { PolicyAt } from '../../../domain/policy/mutations.ts'
import type { NewPolicy, PolicyPatch } from '../../../domain/policy/lifecycle.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { CreatePolicy, UpdatePolicy } from './schema.ts'

type Said = Omit<Static<typeof UpdatePolicy>, 'revision'>

/** The callers' words in ours. Null leaves a field as it is; only the threshold can be cleared by it. */
export const patchOf = (said: Said): PolicyPatch => ({
  ...omitUndefined({
    name: said.name,
    description: said.description,
    rule: said.rule,
    direction: said.direction,
    mode: said.mode,
    scope: said.scope,
    projectIds: said.project_ids,
  }),
  ...(said.match_threshold_basis_points !== undefined && {
    matchThresholdBasisPoints: said.match_threshold_basis_points,
  }),
})

export const newPolicyOf = (said: Static<typeof CreatePolicy>): NewPolicy => ({
  ...patchOf(said),
  name: said.name,
  rule: said.rule,
})

type Named = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly policy_id: string }
}

/** The policy that a path names, in the organization of whoever asks. */
export const policyAt = ({ actor, params }: Named, revision: number): PolicyAt => ({
  organizationId: actor.organization.id,
  id: params.policy_id,
  revision,
})
