import type { Static } from 'typebox'
import { Fault } from '../../../base/fault.ts'
import { findAdminKey, type AuditedDirectory } from '../../../domain/identity/audited-directory.ts'
import { inheritedExpiry, inheritedIps, requireGrantable } from '../../../domain/identity/key-authority.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { permissionsOf } from '../../../domain/identity/roles.ts'
import type { Route } from '../../route.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { expiryMs, none, RotateKey } from '../../resources/fields.ts'
import { presentList } from '../../resources/list.ts'
import { keyPageOf } from '../key-list.ts'
import type { AdminRoutes } from '../routes.ts'
import { presentAdminKey, presentDeletedAdminKey, presentIssuedAdminKey } from './present.ts'
import * as Schema from './schema.ts'
import type { Clock } from '../../../base/clock.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { KeyChanges } from '../../../domain/identity/key-changes.ts'

const keys = '/v1/organization/admin_api_keys'
const key = `${keys}/{key_id}`

/** `/v1/organization/admin_api_keys`. */
type Routes = AdminRoutes<{ readonly directory: DirectoryStore }>

type AdminKeyParts = { readonly directory: AuditedDirectory; readonly keyChanges: KeyChanges; readonly clock: Clock }

/** `/v1/organization/admin_api_keys`: the keys of administrators. */
export function adminKeyRoutes(routes: Routes, { directory, keyChanges, clock }: AdminKeyParts): Route[] {
  const { read, mutation } = routes
  return [
    read({
      name: 'listAdminApiKeys',
      isManaged: true,
      path: keys,
      summary: 'List administrator API keys',
      permission: 'keys:read',
      params: none,
      query: Schema.AdminKeyQuery,
      answer: { description: 'A page of keys, without their secrets.', schema: Schema.AdminKeyList },
      async operation({ directory: store }, { actor, query }) {
        const page = keyPageOf(query, clock.nowMs())
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
      answer: { description: 'The key with its secret, which is returned only once.', schema: Schema.IssuedAdminKey },
      operation({ directory: store }, { actor, body }) {
        const permissions = [...new Set(requestedPermissions(body) ?? actor.permissions)]
        requireGrantable(actor.permissions, permissions, body.role === undefined ? 'permissions' : 'role')
        const expiresAtMs = inheritedExpiry(actor.expiresAtMs, expiryMs(body.expires_at))
        const allowedIps = inheritedIps(actor.networks, body.allowed_ips)
        const fields = { name: body.name, permissions, expiresAtMs, allowedIps }
        return directory.createAdminKey(store, actor.organization.id, fields)
      },
      managed: ({ key: { id } }) => ({ id, kind: 'admin_api_key.updated' }),
      present: presentIssuedAdminKey,
    }),
    read({
      name: 'getAdminApiKey',
      isManaged: true,
      path: key,
      summary: 'Read an administrator API key',
      permission: 'keys:read',
      params: Schema.AdminKeyParams,
      query: none,
      answer: { description: 'The key, without its secret.', schema: Schema.AdminKeyObject },
      tag: contentTag,
      operation: async ({ directory: store }, { actor, params }) =>
        presentAdminKey(await findAdminKey(store, actor.organization.id, params.key_id)),
    }),
    mutation({
      name: 'deleteAdminApiKey',
      method: 'DELETE',
      path: key,
      summary: 'Revoke an administrator API key',
      description:
        'The key stops working at once, on other nodes within a second. The key that revokes it must have every permission that the key has. The last key with the permission `*` cannot be revoked.',
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
      removes: ({ id }) => ({ id }),
      present: presentDeletedAdminKey,
    }),
    ...changeRoutes(routes, keyChanges),
  ]
}

function changeRoutes({ mutation }: Routes, keyChanges: KeyChanges): Route[] {
  return [
    mutation({
      name: 'updateAdminApiKey',
      method: 'PATCH',
      path: key,
      summary: 'Rename or restrict an administrator API key',
      description:
        'Fields that are left out stay as they are. The key cannot get more permissions, a later expiry or more addresses than the key that changes it has. The key that changes it must have every permission that the key has. The last key with the permission `*` cannot be restricted.',
      permission: 'keys:write',
      params: Schema.AdminKeyParams,
      query: none,
      body: Schema.UpdateAdminKey,
      answer: { description: 'The key, without its secret.', schema: Schema.AdminKeyObject },
      operation({ directory: store }, { body, ...input }) {
        const { name, permissions, expires_at: expiresAt, allowed_ips: allowedIps } = body
        const update = { name, permissions, expiresAtMs: expiryMs(expiresAt), allowedIps }
        return keyChanges.updateAdminKey(store, keyAt(input), update)
      },
      managed: ({ id }) => ({ id, kind: 'admin_api_key.updated' }),
      present: presentAdminKey,
    }),
    mutation({
      name: 'rotateAdminApiKey',
      method: 'POST',
      path: `${key}/rotate`,
      summary: 'Rotate the secret of an administrator API key',
      description:
        'The key keeps its id and its permissions. A second rotation during the grace time ends the older secret at once. The key that rotates it must have everything that the key has; a key may rotate itself.',
      permission: 'keys:write',
      params: Schema.AdminKeyParams,
      query: none,
      body: RotateKey,
      answer: {
        description: 'The key with its new secret, which is returned only once.',
        schema: Schema.IssuedAdminKey,
      },
      operation: ({ directory: store }, { body, ...input }) =>
        keyChanges.rotateAdminKey(store, keyAt(input), body.grace_seconds),
      managed: ({ key: { id } }) => ({ id, kind: 'admin_api_key.updated' }),
      present: presentIssuedAdminKey,
    }),
  ]
}

function requestedPermissions({ permissions, role }: Static<typeof Schema.CreateAdminKey>) {
  if (role === undefined) return permissions
  if (permissions === undefined) return permissionsOf(role)
  throw new Fault('validation', 'invalid_parameter', 'role: send either role or permissions.', { param: 'role' })
}

type KeyInput = { readonly actor: Administrator; readonly params: { readonly key_id: string } }

const keyAt = ({ actor, params }: KeyInput) => ({
  organizationId: actor.organization.id,
  id: params.key_id,
  by: actor,
})
