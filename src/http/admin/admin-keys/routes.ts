import {
  findAdminKey,
  inheritedExpiry,
  inheritedIps,
  requireGrantable,
} from '../../../domain/identity/audited-directory.ts'
import type { Route } from '../../route.ts'
import { expiryMs, none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminParts, AdminRoutes } from '../parts.ts'
import { presentAdminKey, presentCreatedAdminKey, presentDeletedAdminKey } from './present.ts'
import * as Schema from './schema.ts'

const keys = '/v1/organization/admin_api_keys'
const key = `${keys}/{key_id}`

/** `/v1/organization/admin_api_keys`. */
export function adminKeyRoutes({ read, mutation }: AdminRoutes, { directory }: AdminParts): Route[] {
  return [
    read({
      name: 'listAdminApiKeys',
      path: keys,
      summary: 'List administrator API keys',
      permission: 'keys:read',
      params: none,
      query: Schema.AdminKeyQuery,
      answer: { description: 'A page of keys, without their secrets.', schema: Schema.AdminKeyList },
      async operation({ directory: store }, { actor, query }) {
        const page = { ...pageOf(query), withoutRevoked: true }
        return presentList(await store.listAdminKeys(actor.organization.id, page), presentAdminKey)
      },
    }),
    mutation({
      name: 'createAdminApiKey',
      method: 'POST',
      path: keys,
      summary: 'Create an administrator API key',
      description:
        'The new key cannot have more permissions, a later expiry or more addresses than the key that creates it.',
      permission: 'keys:write',
      params: none,
      query: none,
      body: Schema.CreateAdminKey,
      status: 201,
      answer: { description: 'The key with its secret, which is returned only once.', schema: Schema.CreatedAdminKey },
      operation({ directory: store }, { actor, body }) {
        const permissions = [...new Set(body.permissions ?? actor.permissions)]
        requireGrantable(actor.permissions, permissions)
        const expiresAtMs = inheritedExpiry(actor.expiresAtMs, expiryMs(body.expires_at))
        const allowedIps = inheritedIps(actor.networks, body.allowed_ips)
        const fields = { name: body.name, permissions, expiresAtMs, allowedIps }
        return directory.createAdminKey(store, actor.organization.id, fields)
      },
      present: presentCreatedAdminKey,
    }),
    read({
      name: 'getAdminApiKey',
      path: key,
      summary: 'Read an administrator API key',
      permission: 'keys:read',
      params: Schema.AdminKeyParams,
      query: none,
      answer: { description: 'The key, without its secret.', schema: Schema.AdminKeyObject },
      operation: async ({ directory: store }, { actor, params }) =>
        presentAdminKey(await findAdminKey(store, actor.organization.id, params.key_id)),
    }),
    mutation({
      name: 'deleteAdminApiKey',
      method: 'DELETE',
      path: key,
      summary: 'Revoke an administrator API key',
      description:
        'The key stops working at once, on other nodes within a second. A key with the permission `*` can only be revoked by another key with `*`, and not while it is the last one.',
      permission: 'keys:write',
      params: Schema.AdminKeyParams,
      query: none,
      body: none,
      answer: { description: 'The id of the revoked key.', schema: Schema.DeletedAdminKey },
      operation: ({ directory: store }, { actor, params }) =>
        directory.revokeAdminKey(
          store,
          { organizationId: actor.organization.id, by: actor.permissions },
          params.key_id,
        ),
      present: presentDeletedAdminKey,
    }),
  ]
}
