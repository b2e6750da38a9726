import { holds, type KeyDefaults } from '../../../domain/identity/permissions.ts'
import { findApiKey, findProject, type AuditedDirectory } from '../../../domain/identity/audited-directory.ts'
import { inheritedExpiry, inheritedIps, requireGrantable } from '../../../domain/identity/key-authority.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { Route } from '../../route.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { expiryMs, none, RotateKey } from '../../resources/fields.ts'
import { presentList } from '../../resources/list.ts'
import { keyPageOf } from '../key-list.ts'
import type { AdminRoutes } from '../routes.ts'
import { presentApiKey, presentDeletedApiKey, presentIssuedApiKey, presentProjectKey } from './present.ts'
import * as Schema from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { KeyChanges } from '../../../domain/identity/key-changes.ts'

const keys = '/v1/organization/projects/{project_id}/api_keys'
const key = `${keys}/{key_id}`

/** `/v1/organization/projects/{project_id}/api_keys`. */
type Routes = AdminRoutes<{ readonly directory: DirectoryStore }>

type ApiKeyParts = {
  readonly directory: AuditedDirectory
  readonly keyChanges: KeyChanges
  readonly keyDefaults: KeyDefaults
  readonly clock: Clock
}

/** `/v1/organization/projects/{project_id}/api_keys` and `/v1/organization/api_keys`: the keys of applications. */
export function apiKeyRoutes(routes: Routes, { directory, keyChanges, keyDefaults, clock }: ApiKeyParts): Route[] {
  const { read, mutation } = routes
  return [
    read({
      name: 'listApiKeys',
      isManaged: true,
      path: keys,
      summary: 'List the API keys of a project',
      permission: 'keys:read',
      params: Schema.ApiKeysParams,
      query: Schema.ApiKeyQuery,
      answer: { description: 'A page of keys, without their secrets.', schema: Schema.ApiKeyList },
      async operation({ directory: store }, { query, ...input }) {
        const { organizationId, id } = await findProject(store, projectAt(input))
        const page = keyPageOf(query, clock.nowMs())
        return presentList(await store.listApiKeys(organizationId, id, page), presentApiKey)
      },
    }),
    read({
      name: 'listProjectApiKeys',
      isManaged: true,
      path: '/v1/organization/api_keys',
      summary: 'List the API keys of all projects',
      permission: 'keys:read',
      params: none,
      query: Schema.ProjectKeyQuery,
      answer: {
        description: 'A page of keys with their projects, without their secrets.',
        schema: Schema.ProjectKeyList,
      },
      async operation({ directory: store }, { actor, query }) {
        const { project_id: projectId, ...page } = query
        const filter = { ...keyPageOf(page, clock.nowMs()), ...(projectId !== undefined && { projectId }) }
        return presentList(await store.listProjectKeys(actor.organization.id, filter), presentProjectKey)
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
      answer: { description: 'The key with its secret, which is returned only once.', schema: Schema.IssuedApiKey },
      operation({ directory: store }, { body, ...input }) {
        const { permissions: own, expiresAtMs: end, networks } = input.actor
        const permissions = [...new Set(body.permissions ?? keyDefaults.permissions.filter((each) => holds(own, each)))]
        requireGrantable(own, permissions)
        const expiresAtMs = inheritedExpiry(end, expiryMs(body.expires_at))
        const models = body.models ? [...new Set(body.models)] : null
        const allowedIps = inheritedIps(networks, body.allowed_ips)
        const fields = { name: body.name, models, expiresAtMs, permissions, allowedIps }
        return directory.createApiKey(store, projectAt(input), fields)
      },
      managed: ({ key: { id } }) => ({ id, kind: 'api_key.updated' }),
      present: presentIssuedApiKey,
    }),
    read({
      name: 'getApiKey',
      isManaged: true,
      path: key,
      summary: 'Read an API key of a project',
      permission: 'keys:read',
      params: Schema.ApiKeyParams,
      query: none,
      answer: { description: 'The key, without its secret.', schema: Schema.ApiKeyObject },
      tag: contentTag,
      operation: async ({ directory: store }, input) =>
        presentApiKey(await findApiKey(store, projectAt(input), input.params.key_id)),
    }),
    mutation({
      name: 'deleteApiKey',
      method: 'DELETE',
      path: key,
      summary: 'Revoke an API key of a project',
      description:
        'The key stops working at once, on other nodes within a second. The key that revokes it must have every permission that the key has.',
      permission: 'keys:write',
      params: Schema.ApiKeyParams,
      query: none,
      body: none,
      answer: { description: 'The id of the revoked key.', schema: Schema.DeletedApiKey },
      operation: ({ directory: store }, input) =>
        directory.revokeApiKey(store, { ...projectAt(input), by: input.actor.permissions }, input.params.key_id),
      removes: ({ id }) => ({ id }),
      present: presentDeletedApiKey,
    }),
    ...changeRoutes(routes, keyChanges),
  ]
}

function changeRoutes({ mutation }: Routes, keyChanges: KeyChanges): Route[] {
  return [
    mutation({
      name: 'updateApiKey',
      method: 'PATCH',
      path: key,
      summary: 'Rename or restrict an API key of a project',
      description:
        'Fields that are left out stay as they are. The key cannot get more permissions, a later expiry or more addresses than the key that changes it has, which must have every permission that the key has.',
      permission: 'keys:write',
      params: Schema.ApiKeyParams,
      query: none,
      body: Schema.UpdateApiKey,
      answer: { description: 'The key, without its secret.', schema: Schema.ApiKeyObject },
      operation({ directory: store }, { body, ...input }) {
        const { name, permissions, models, expires_at: expiresAt, allowed_ips: allowedIps } = body
        const update = {
          name,
          permissions,
          models: models && [...new Set(models)],
          expiresAtMs: expiryMs(expiresAt),
          allowedIps,
        }
        return keyChanges.updateApiKey(store, keyAt(input), update)
      },
      managed: ({ id }) => ({ id, kind: 'api_key.updated' }),
      present: presentApiKey,
    }),
    mutation({
      name: 'rotateApiKey',
      method: 'POST',
      path: `${key}/rotate`,
      summary: 'Rotate the secret of an API key of a project',
      description:
        'The key keeps its id, its permissions and its limits. A second rotation during the grace time ends the older secret at once. The key that rotates it must have everything that the key has.',
      permission: 'keys:write',
      params: Schema.ApiKeyParams,
      query: none,
      body: RotateKey,
      answer: { description: 'The key with its new secret, which is returned only once.', schema: Schema.IssuedApiKey },
      operation: ({ directory: store }, { body, ...input }) =>
        keyChanges.rotateApiKey(store, keyAt(input), body.grace_seconds),
      managed: ({ key: { id } }) => ({ id, kind: 'api_key.updated' }),
      present: presentIssuedApiKey,
    }),
  ]
}

type ProjectInput = {
  readonly actor: Administrator
  readonly params: { readonly project_id: string }
}

const projectAt = ({ actor, params }: ProjectInput) => ({
  organizationId: actor.organization.id,
  projectId: params.project_id,
})

const keyAt = (input: ProjectInput & { readonly params: { readonly key_id: string } }) => ({
  ...projectAt(input),
  id: input.params.key_id,
  by: input.actor,
})
