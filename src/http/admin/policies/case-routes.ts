import { findCase, type Cases } from '../../../domain/cases/cases.ts'
import type { CaseOwner, CaseStore, PolicyCase } from '../../../domain/cases/case.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { requireDecodable } from '../../resources/cases.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { DecodeBody } from '../../resources/scenario.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './case-schema.ts'
import { PolicyParams } from './schema.ts'

const path = '/v1/organization/policies/{policy_id}/cases'
const one = `${path}/{case_id}`
const answer = { description: 'The case.', schema: Schema.CaseObject }

export type CaseRouteParts = { readonly cases: Cases; readonly decodeBody: DecodeBody }

export type CaseRouteStores = { readonly cases: CaseStore; readonly policies: PolicyStore }

/** Cases of a policy: texts with what its rule is expected to say. */
export function caseRoutes({ read, mutation }: AdminRoutes<CaseRouteStores>, parts: CaseRouteParts): Route[] {
  const { cases, decodeBody } = parts
  return [
    read({
      name: 'listPolicyCases',
      path,
      summary: 'List the cases of a policy',
      permission: 'policies:read',
      params: PolicyParams,
      query: listQuery({}),
      answer: { description: 'A page of cases.', schema: Schema.CaseList },
      async operation(stores, { actor, params, query: page }) {
        const owner = ownerOf(actor, params)
        await findPolicy(stores.policies, owner.organizationId, owner.policyId)
        return presentList(await stores.cases.list(owner, pageOf(page)), Schema.casePresenter(actor))
      },
    }),
    mutation({
      name: 'createPolicyCase',
      method: 'POST',
      path,
      summary: 'Add a case to a policy',
      description: 'A policy may have 1,000 cases. Their texts are stored encrypted.',
      permission: 'policies:write',
      params: PolicyParams,
      query: none,
      body: Schema.CreateCase,
      status: 201,
      answer,
      async operation(stores, { actor, params, body }) {
        const { expect, weight = 'must', origin = 'written', tags = [], says, given, event_id: eventId = null } = body
        requireDecodable(given, decodeBody)
        const expected = Schema.expectationOf(expect)
        const input = { says, given, expected, weight, origin, tags, eventId, labelledBy: actor.id }
        return asSeenBy(actor, await cases.create(stores, ownerOf(actor, params), input))
      },
      present: (body) => body,
    }),
    read({
      name: 'getPolicyCase',
      path: one,
      summary: 'Read a case',
      permission: 'policies:read',
      params: Schema.CaseParams,
      query: none,
      answer,
      operation: async (stores, { actor, params }) =>
        Schema.casePresenter(actor)(await findCase(stores, ownerOf(actor, params), params.case_id)),
    }),
    mutation({
      name: 'updatePolicyCase',
      method: 'PATCH',
      path: one,
      summary: 'Change a case',
      description: 'Fields that are left out stay as they are.',
      permission: 'policies:write',
      params: Schema.CaseParams,
      query: none,
      body: Schema.UpdateCase,
      answer,
      async operation(stores, { actor, params, body: { expect, revision, ...body } }) {
        if (body.given) requireDecodable(body.given, decodeBody)
        const expected = expect === undefined ? undefined : Schema.expectationOf(expect)
        const changes = { ...omitUndefined({ ...body, expected }), revision, labelledBy: actor.id }
        return asSeenBy(actor, await cases.update(stores, { ...ownerOf(actor, params), id: params.case_id }, changes))
      },
      present: (body) => body,
    }),
    mutation({
      name: 'deletePolicyCase',
      method: 'DELETE',
      path: one,
      summary: 'Delete a case',
      permission: 'policies:write',
      params: Schema.CaseParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted case.', schema: Schema.DeletedCase },
      operation: (stores, { actor, params }) => cases.remove(stores, ownerOf(actor, params), params.case_id),
      present: ({ id }) => ({ id, object: 'organization.policy.case.deleted', deleted: true }),
    }),
  ]
}

export const ownerOf = (
  actor: { readonly organization: { readonly id: string } },
  params: { readonly policy_id: string },
): CaseOwner => ({ organizationId: actor.organization.id, policyId: params.policy_id })

const asSeenBy = <Rest>(
  actor: Pick<Administrator, 'permissions'>,
  { value, ...rest }: Rest & { readonly value: PolicyCase },
) => ({ ...rest, value: Schema.casePresenter(actor)(value) })
