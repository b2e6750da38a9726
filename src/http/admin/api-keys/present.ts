import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { ApiKey } from '../../../domain/identity/principal.ts'
import type { ProjectKey } from '../../../domain/identity/store.ts'
import type { Issued } from '../../../domain/identity/directory.ts'
import type * as Schema from './schema.ts'

export const presentApiKey = (key: ApiKey) => ({
  id: key.id,
  object: 'organization.project.api_key' as const,
  project_id: key.projectId,
  name: key.name,
  redacted_value: key.redactedValue,
  permissions: [...key.permissions],
  models: key.models && [...key.models],
  allowed_ips: key.allowedIps && [...key.allowedIps],
  created_at: toUnixSeconds(key.createdAtMs),
  ...(key.lastUsedAtMs !== null && { last_used_at: toUnixSeconds(key.lastUsedAtMs) }),
  ...(key.expiresAtMs !== null && { expires_at: toUnixSeconds(key.expiresAtMs) }),
  ...(key.previousExpiresAtMs !== null && { previous_expires_at: toUnixSeconds(key.previousExpiresAtMs) }),
  ...(key.revokedAtMs !== null && { revoked_at: toUnixSeconds(key.revokedAtMs) }),
})

export const presentProjectKey = ({ project, ...key }: ProjectKey): Static<typeof Schema.ProjectKeyObject> => ({
  ...presentApiKey(key),
  project_name: project.name,
  project_status: project.archivedAtMs === null ? 'active' : 'archived',
})

export const presentIssuedApiKey = ({ key, secret }: Issued<ApiKey>): Static<typeof Schema.IssuedApiKey> => ({
  ...presentApiKey(key),
  value: secret,
})

export const presentDeletedApiKey = ({ id }: ApiKey): Static<typeof Schema.DeletedApiKey> => ({
  id,
  object: 'organization.project.api_key.deleted',
  deleted: true,
})
