import { findAdminKey, heldExpiry, heldIps, requireHeld } from '../../../domain/identity/audited-directory.ts'
import type { Route } from '../../route.ts'
import { expiryMs } from '../expiry.ts'
import { none } from '../../managing/fields.ts'
import { pageOf, presentList } from '../../managing/list.ts'
import type { AdminParts, AdminRoutes } from '../parts.ts'
import { presentAdminKey, presentCreated, presentDeleted } from './present.ts'
import * as Schema from './schema.ts'

const keys = '/v1/organization/admin_api_keys'
const key = `${keys}/{key_id}`

/** `/v1/organization/admin_api_keys`: how a key comes and goes. */
export function adminKeyRoutes({ question, change }: AdminRoutes, { registry }: AdminParts): Route[] {
  return [
    question({
      path: keys,
      summary: 'List administrator API keys',
      permission: 'keys:read',
      params: none,
      query: Schema.AdminKeyQuery,
      answer: { description: 'A page of keys, without their secrets.', schema: Schema.AdminKeyList },
      async operation({ registry: store }, { who, query }) {
        const page = { ...pageOf(query), withoutRevoked: true }
        return presentList(await store.listAdminKeys(who.organization.id, page), presentAdminKey)
      },
    }),
    change({
      method: 'POST',
      path: keys,
      summary: 'Create an administrator API key',
      description: 'A key creates none that may do more than itself, outlives it, or works from more addresses.',
      permission: 'keys:write',
      params: none,
      query: none,
      body: Schema.CreateAdminKey,
      status: 201,
      answer: { description: 'The key, with its secret this once.', schema: Schema.CreatedAdminKey },
      operation({ registry: store }, { who, body }) {
        const permissions = [...new Set(body.permissions ?? who.permissions)]
        requireHeld(who.permissions, permissions)
        const expiresAtMs = heldExpiry(who.expiresAtMs, expiryMs(body.expires_at))
        const allowedIps = heldIps(who.networks, body.allowed_ips)
        const fields = { name: body.name, permissions, expiresAtMs, allowedIps }
        return registry.createAdminKey(store, who.organization.id, fields)
      },
      present: presentCreated,
    }),
    question({
      path: key,
      summary: 'Read an administrator API key',
      permission: 'keys:read',
      params: Schema.AdminKeyParams,
      query: none,
      answer: { description: 'The key, without its secret.', schema: Schema.AdminKeyObject },
      operation: async ({ registry: store }, { who, params }) =>
        presentAdminKey(await findAdminKey(store, who.organization.id, params.key_id)),
    }),
    change({
      method: 'DELETE',
      path: key,
      summary: 'Revoke an administrator API key',
      description:
        'It stops working at once, on other nodes within a second. A key with the permission `*` can only be revoked by another one with it, and not while it is the last.',
      permission: 'keys:write',
      params: Schema.AdminKeyParams,
      query: none,
      body: none,
      answer: { description: 'It is gone.', schema: Schema.DeletedAdminKey },
      operation: ({ registry: store }, { who, params }) =>
        registry.revokeAdminKey(store, { organizationId: who.organization.id, by: who.permissions }, params.key_id),
      present: presentDeleted,
    }),
  ]
}
