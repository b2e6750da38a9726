import type { Static } from 'typebox'
import type { ModelSetOf } from '../../../domain/inference/model-set.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { Preflight } from '../../../pipeline/billing/preflight.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import { none } from '../../resources/fields.ts'
import type { AdminReads } from '../routes.ts'
import { presentCheck, presentLimits } from './present.ts'
import { CheckBody, CheckObject, LimitsObject, LimitsQuery } from './schema.ts'

export type LimitRouteParts = { readonly preflight: Preflight; readonly modelSetOf: ModelSetOf }

export function limitRoutes(
  admin: AdminReads<{ readonly directory: DirectoryStore }>,
  { preflight, modelSetOf }: LimitRouteParts,
): Route[] {
  return [
    admin.read({
      name: 'getLimits',
      path: '/v1/organization/limits',
      summary: 'Read limits and usage',
      description: 'Without `project_id` and `api_key_id`, these scopes show the limits of an unused project and key.',
      permission: 'usage:read',
      params: none,
      query: LimitsQuery,
      answer: { description: 'The limits of the three scopes.', schema: LimitsObject },
      async operation({ directory }, { actor, query }) {
        const { organization } = actor
        const subject = await subjectOf(directory, organization.id, query)
        const { admission } = await preflight({ organization, ...subject })
        return presentLimits(organization, admission.limitStatus)
      },
    }),
    admin.query({
      name: 'checkLimits',
      path: '/v1/organization/limits/check',
      summary: 'Check a request against the limits',
      description: 'Checks limits and credits without counting the request.',
      permission: 'usage:read',
      params: none,
      body: CheckBody,
      answer: { description: 'The decision, and what the request would reserve.', schema: CheckObject },
      async operation({ directory }, { actor, body }) {
        const { organization } = actor
        const subject = await subjectOf(directory, organization.id, body)
        const { catalogue } = await modelSetOf(organization.id)
        const model = catalogue.find(body.model)
        if (!model) throw invalidField(['model'], 'must name a model of the catalogue')
        const preview = await preflight({
          organization,
          ...subject,
          price: model.price,
          inputTokens: body.input_tokens,
          maxOutputTokens: body.max_tokens ?? model.maxOutputTokens,
        })
        return presentCheck(preview)
      },
    }),
  ]
}

/** Without a project or a key, an unused id stands for any of them. */
async function subjectOf(directory: DirectoryStore, organizationId: string, query: Static<typeof LimitsQuery>) {
  const { project_id: projectId, api_key_id: keyId } = query
  const key = keyId === undefined ? undefined : await directory.findApiKey(organizationId, keyId)
  if (keyId !== undefined && key === undefined)
    throw invalidField(['api_key_id'], 'must name a key of the organization')
  const project = projectId === undefined ? undefined : await directory.findProject(organizationId, projectId)
  if (projectId !== undefined && !project) throw invalidField(['project_id'], 'must name a project of the organization')
  if (key && projectId !== undefined && key.projectId !== projectId)
    throw invalidField(['api_key_id'], 'must name a key of the project')
  return { projectId: projectId ?? key?.projectId ?? '', keyId: keyId ?? '' }
}
