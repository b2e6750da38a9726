import type { SavedConfiguration } from '../../../domain/gateway-config/configuration.ts'
import type { ConfigurationVersion } from '../../../domain/gateway-config/store.ts'

export const presentSaved = ({ config, version, isRolledBack, createdAtMs, updatedAtMs }: SavedConfiguration) => ({
  config,
  version,
  rolled_back: isRolledBack,
  created_at: isoOrNull(createdAtMs),
  updated_at: isoOrNull(updatedAtMs),
})

export const presentConfigVersion = ({ id, version, config, createdAtMs }: ConfigurationVersion) => ({
  id,
  object: 'policy_gateway.config_version',
  version,
  config,
  created_at: isoOrNull(createdAtMs),
})

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
