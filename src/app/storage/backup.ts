import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import {
  assertOwnSchema,
  readBackup,
  restoreBackup,
  writeBackup,
  type BackupContents,
} from '../../adapters/stores/sql/sqlite/backup.ts'
import { hasDatabase, SecretMissing, secretFileNames } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { readMigrations, type Migration } from '../../adapters/stores/sql/migrate.ts'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { deriveKey } from '../../domain/server-secret/keyring.ts'
import { lockUnusedFolder } from './lock-folder.ts'
import { migrationsDir } from './storage.ts'

export type { BackupContents } from '../../adapters/stores/sql/sqlite/backup.ts'

/** Copies the embedded database into one file, with its server secret unless `withSecret` is false. */
export async function backUp(
  config: Config,
  { file, withSecret }: { readonly file: string; readonly withSecret: boolean },
): Promise<BackupContents> {
  const dataDir = embeddedFolder(config, 'back it up with pg_dump')
  const files = readSecretFiles(dataDir)
  const secret = config.secret ?? files['secret']?.trim()
  if (secret === undefined && hasDatabase(dataDir)) throw new SecretMissing(dataDir)
  if (secret === undefined) throw new Error(`There is no database in ${dataDir} to back up.`)
  return writeBackup(dataDir, file, {
    createdAtMs: systemClock.nowMs(),
    version: packageFile.version,
    secretCheck: secretCheckOf(secret),
    secretFiles: withSecret && config.secret === undefined ? files : {},
  })
}

export type Restored = BackupContents & { readonly replacedDir: string | undefined }

/** Restores the data folder from a backup. The server must not be running. */
export async function restore(
  config: Config,
  { file, replace }: { readonly file: string; readonly replace: boolean },
): Promise<Restored> {
  const dataDir = embeddedFolder(config, 'restore it with pg_restore')
  const contents = readBackup(file)
  assertOwnSchema(file, await migrationsOf(contents))
  using _lock = await lockUnusedFolder(dataDir)
  const isOccupied = hasDatabase(dataDir)
  if (isOccupied && !replace) {
    throw new Error(
      `${dataDir} already has a database. Use --replace to move it into a subfolder first, or set GATEHOUSE_DATA_DIR to another folder.`,
    )
  }
  assertSecret(config, dataDir, contents)
  const stamp = new Date(systemClock.nowMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const replacedDir = join(dataDir, `replaced-${stamp}`)
  await restoreBackup(file, { dataDir, replacedDir })
  return { ...contents, replacedDir: existsSync(replacedDir) ? replacedDir : undefined }
}

function embeddedFolder({ storage }: Config, hint: string): string {
  if (storage.database_url === undefined) return storage.data_dir
  throw new Error(`The database is PostgreSQL (DATABASE_URL): ${hint}, as docs/guide/backup.md shows.`)
}

function readSecretFiles(dataDir: string): Record<string, string> {
  const present = secretFileNames.filter((name) => existsSync(join(dataDir, name)))
  return Object.fromEntries(present.map((name) => [name, readFileSync(join(dataDir, name), 'utf8')]))
}

/** The migrations that the backup has. */
async function migrationsOf({ lastMigration, manifest }: BackupContents): Promise<readonly Migration[]> {
  const known = await readMigrations(migrationsDir)
  if (lastMigration <= known.length) return known.slice(0, lastMigration)
  throw new Error(`The backup was made by Gatehouse ${manifest.version}, which is newer than this program.`)
}

/** Rejects another secret, because no key could be verified and no sink configuration decrypted with it. */
function assertSecret(config: Config, dataDir: string, { manifest }: BackupContents): void {
  const restored = manifest.secretFiles['secret']
  const kept = config.secret ?? restored ?? readSecretFiles(dataDir)['secret']
  // A backup from before a rotation was made with the secret that is now the previous one.
  const secrets = [kept, config.secret_previous].flatMap((secret) => secret ?? [])
  if (secrets.length === 0) {
    throw new Error(
      'The backup was made without its server secret. Set GATEHOUSE_SECRET, or put the secret file into the data folder first.',
    )
  }
  if (secrets.some((secret) => secretCheckOf(secret.trim()) === manifest.secretCheck)) return
  const source = config.secret === undefined ? 'The secret file of the data folder' : 'GATEHOUSE_SECRET'
  throw new Error(`${source} is not the server secret that the backup was made with.`)
}

/** Identifies a server secret in a backup without revealing it. */
export const secretCheckOf = (secret: string): string =>
  Buffer.from(deriveKey(secret, 'backup check')).toString('hex').slice(0, 32)
