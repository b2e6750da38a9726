import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { newPolicyOf } from './decode.ts'
import { presentPolicy } from './present.ts'
import { CreatePolicy, Policy } from './schema.ts'
import type { PolicyAdministration } from '../../../domain/policy/mutations.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'

/** `/v1/organization/policies/preview`: a policy as it would be created, for a plan of changes. */
export const policyPreviewRoute = (
  { query }: AdminReads<{ readonly policies: PolicyStore }>,
  policies: PolicyAdministration,
): Route =>
  query({
    name: 'previewPolicy',
    path: '/v1/organization/policies/preview',
    summary: 'Preview a new policy',
    description: 'Returns the policy as POST /v1/organization/policies would create it, and creates nothing.',
    permission: 'policies:read',
    params: none,
    body: CreatePolicy,
    answer: { description: 'The policy with all defaults.', schema: Policy },
    operation: async ({ policies: store }, { actor, body }) =>
      presentPolicy(await policies.check(store, actor.organization.id, newPolicyOf(body))),
  })
