import Type, { type Static } from 'typebox'
import type { LimitOverride, OverrideStore } from '../../../domain/limits/overrides.ts'
import { setLimitOverride } from '../../../domain/limits/set-limits.ts'
import { limitScopes } from '../../../domain/limits/scopes.ts'
import { integer } from '../../described.ts'
import { idText, none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { requireCreditManager, type CreditAuthority } from '../credits/authority.ts'
import type { AdminRoutes } from '../routes.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'

const path = '/v1/organization/limits/overrides'

export type OverrideStores = { readonly overrides: OverrideStore; readonly directory: DirectoryStore }

const limit = (description: string) =>
  Type.Optional(integer(description, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
export const LimitValues = Type.Object(
  {
    rpm: limit('Requests per minute.'),
    rpd: limit('Requests per day.'),
    tpm: limit('Tokens per minute.'),
    tpd: limit('Tokens per day.'),
    concurrent: limit('Concurrent requests.'),
  },
  {
    title: 'LimitValues',
    additionalProperties: false,
    description: '0 removes a limit. Those that are left out are the limits of the tier.',
  },
)

const subject = {
  project_id: Type.Optional(idText('The limits of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  api_key_id: Type.Optional(idText('The limits of this API key.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8')),
}

const Subject = Type.Object(subject, { additionalProperties: false })

const SetLimits = Type.Object(
  { ...subject, limits: LimitValues },
  { title: 'LimitOverrideUpdate', additionalProperties: false, examples: [{ limits: { rpm: 600 } }] },
)

const example = { subject_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7', scope: 'organization', limits: { rpm: 600 } }

export const OverrideObject = Type.Object(
  {
    subject_id: Type.String({ description: 'The organization, project or API key.' }),
    scope: Type.Enum([...limitScopes], { description: 'What it is.' }),
    limits: LimitValues,
  },
  { title: 'LimitOverride', examples: [example] },
)

const OverridesObject = Type.Object(
  {
    object: Type.Literal('organization.limit_overrides'),
    data: Type.Array(OverrideObject, { description: 'One for each organization, project or key.' }),
  },
  { title: 'LimitOverrides', examples: [{ object: 'organization.limit_overrides', data: [example] }] },
)

const answer = { description: 'The limits that apply in place of the tier’s.', schema: OverrideObject }

/** Limits of an organization, a project or an API key in place of those of the tier. */
export function overrideRoutes({ read, mutation }: AdminRoutes<OverrideStores>, parts: CreditAuthority): Route[] {
  return [
    read({
      name: 'listLimitOverrides',
      path,
      summary: 'List limit overrides',
      permission: 'usage:read',
      params: none,
      query: none,
      answer: { description: 'All limits that apply in place of the tier’s.', schema: OverridesObject },
      operation: async ({ overrides }, { actor }) => ({
        object: 'organization.limit_overrides',
        data: (await overrides.list(actor.organization.id)).map(presentOverride),
      }),
    }),
    mutation({
      name: 'setLimitOverride',
      method: 'PUT',
      path,
      summary: 'Set limits of the organization, a project or an API key',
      description:
        'Without `project_id` and `api_key_id`, those of the organization. Replaces all limits that were set before for it.',
      permission: 'credits:write',
      params: none,
      query: none,
      body: SetLimits,
      answer,
      operation(stores, { actor, body: { project_id: projectId, api_key_id: keyId, limits } }) {
        requireCreditManager(actor, parts)
        return setLimitOverride(stores, { organizationId: actor.organization.id, projectId, keyId, limits })
      },
      present: presentOverride,
    }),
    mutation({
      name: 'deleteLimitOverride',
      method: 'DELETE',
      path,
      summary: 'Restore the limits of the tier',
      description: 'Without `project_id` and `api_key_id`, for the organization.',
      permission: 'credits:write',
      params: none,
      query: Subject,
      body: none,
      answer,
      operation(stores, { actor, query: { project_id: projectId, api_key_id: keyId } }) {
        requireCreditManager(actor, parts)
        return setLimitOverride(stores, { organizationId: actor.organization.id, projectId, keyId, limits: {} })
      },
      present: presentOverride,
    }),
  ]
}

const presentOverride = ({ subjectId, scope, limits }: LimitOverride): Static<typeof OverrideObject> => ({
  subject_id: subjectId,
  scope,
  limits: { ...limits },
})

export type OverrideBody = Static<typeof OverrideObject>
