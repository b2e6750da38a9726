import { holds } from '../../../domain/identity/permissions.ts'
import {
  findProject,
  inheritedExpiry,
  inheritedIps,
  requireGrantable,
} from '../../../domain/identity/audited-directory.ts'
import type { Route } from '../../route.ts'
import { expiryMs, none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminParts, AdminRoutes } from '../parts.ts'
import { presentApiKey, presentCreatedApiKey, presentDeletedApiKey } from './present.ts'
import * as Schema from './schema.ts'

const keys = '/v1/organization/projects/{project_id}/api_keys'

/** `/v1/organization/projects/{project_id}/api_keys`. */
export function apiKeyRoutes({ read, mutation }: AdminRoutes, { directory, keyDefaults }: AdminParts): Route[] {
  return [
    read({
      name: 'listApiKeys',
      path: keys,
      summary: 'List the API keys of a project',
      permission: 'keys:read',
      params: Schema.ApiKeysParams,
      query: Schema.ApiKeyQuery,
      answer: { description: 'A page of keys, without their secrets.', schema: Schema.ApiKeyList },
      async operation({ directory: store }, { query, ...input }) {
        const { organizationId, id } = await findProject(store, projectAt(input))
        const page = { ...pageOf(query), withoutRevoked: true }
        return presentList(await store.listApiKeys(organizationId, id, page), presentApiKey)
      },
    }),
    mutation({
      name: 'createApiKey',
      method: 'POST',
      path: keys,
      summary: 'Create an API key in a project',
      description:
        'The new key cannot have more permissions, a later expiry or more addresses than the key that creates it.',
      permission: 'keys:write',
      params: Schema.ApiKeysParams,
      query: none,
      body: Schema.CreateApiKey,
      status: 201,
      answer: { description: 'The key with its secret, which is returned only once.', schema: Schema.CreatedApiKey },
      operation({ directory: store }, { body, ...input }) {
        const { permissions: own, expiresAtMs: end, networks } = input.actor
        const permissions = [...new Set(body.permissions ?? keyDefaults.permissions.filter((each) => holds(own, each)))]
        requireGrantable(own, permissions)
        const expiresAtMs = inheritedExpiry(end, expiryMs(body.expires_at))
        const models = body.models ? [...new Set(body.models)] : null
        const allowedIps = inheritedIps(networks, body.allowed_ips)
        const key = { name: body.name, models, expiresAtMs, permissions, allowedIps }
        return directory.createApiKey(store, projectAt(input), key)
      },
      present: presentCreatedApiKey,
    }),
    mutation({
      name: 'deleteApiKey',
      method: 'DELETE',
      path: `${keys}/{key_id}`,
      summary: 'Revoke an API key of a project',
      description: 'The key stops working at once, on other nodes within a second.',
      permission: 'keys:write',
      params: Schema.ApiKeyParams,
      query: none,
      body: none,
      answer: { description: 'The id of the revoked key.', schema: Schema.DeletedApiKey },
      operation: ({ directory: store }, input) => directory.revokeApiKey(store, projectAt(input), input.params.key_id),
      present: presentDeletedApiKey,
    }),
  ]
}

type ProjectInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly project_id: string }
}

const projectAt = ({ actor, params }: ProjectInput) => ({
  organizationId: actor.organization.id,
  projectId: params.project_id,
})
