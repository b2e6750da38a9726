import type { Random } from '../../base/random.ts'
import { ConfigError, type Config } from '../../config/config.ts'
import {
  readOrCreateSecret,
  readPreviousSecret,
  removePreviousSecret,
  replaceSecret,
} from '../../adapters/stores/sql/sqlite/data-folder.ts'
import type { ServerSecrets } from '../../domain/server-secret/keyring.ts'
import type { SecretFiles } from '../../domain/server-secret/secret-rotation.ts'

/**
 * Reads the current, previous and next server secret from the configuration or from the data folder. No other function reads
 * them. With embedded storage, call it while the folder is locked.
 */
export function readServerSecrets(config: Config, random: Random): ServerSecrets {
  const { data_dir: dataDir, database_url: databaseUrl } = config.storage
  const { secret, secret_previous: previous, secret_next: next } = config
  if (secret !== undefined) return { current: secret, previous, next }
  if (databaseUrl !== undefined) {
    throw new ConfigError(['secret: GATEHOUSE_SECRET must be set with DATABASE_URL, the same on every node'])
  }
  return { current: readOrCreateSecret(dataDir, random), previous: previous ?? readPreviousSecret(dataDir), next }
}

/** The secret files of the data folder; undefined if the secret comes from the configuration. */
export function secretFilesOf(config: Config, random: Random): SecretFiles | undefined {
  if (config.secret !== undefined || config.secret_previous !== undefined) return undefined
  const { data_dir: dataDir } = config.storage
  return {
    replace() {
      replaceSecret(dataDir, random)
      return readServerSecrets(config, random)
    },
    removePrevious() {
      removePreviousSecret(dataDir)
      return readServerSecrets(config, random)
    },
  }
}
