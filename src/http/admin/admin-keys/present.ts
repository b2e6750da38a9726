import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { AdminKey } from '../../../domain/identity/principal.ts'
import type { Issued } from '../../../domain/identity/directory.ts'
import type * as Schema from './schema.ts'

export const presentAdminKey = (key: AdminKey): Static<typeof Schema.AdminKeyObject> => ({
  id: key.id,
  object: 'organization.admin_api_key',
  name: key.name,
  redacted_value: key.redactedValue,
  created_at: toUnixSeconds(key.createdAtMs),
  ...(key.lastUsedAtMs !== null && { last_used_at: toUnixSeconds(key.lastUsedAtMs) }),
  ...(key.expiresAtMs !== null && { expires_at: toUnixSeconds(key.expiresAtMs) }),
  ...(key.previousExpiresAtMs !== null && { previous_expires_at: toUnixSeconds(key.previousExpiresAtMs) }),
  ...(key.revokedAtMs !== null && { revoked_at: toUnixSeconds(key.revokedAtMs) }),
  owner: { id: key.organizationId, type: 'organization' },
  permissions: [...key.permissions],
  allowed_ips: key.allowedIps && [...key.allowedIps],
})

export const presentIssuedAdminKey = ({ key, secret }: Issued<AdminKey>): Static<typeof Schema.IssuedAdminKey> => ({
  ...presentAdminKey(key),
  value: secret,
})

export const presentDeletedAdminKey = ({ id }: AdminKey): Static<typeof Schema.DeletedAdminKey> => ({
  id,
  object: 'organization.admin_api_key.deleted',
  deleted: true,
})
