import { join } from 'node:path'
import { openCopySource, type CopySource } from '../../adapters/stores/sql/copy/source.ts'
import type { Migration } from '../../adapters/stores/sql/migrate.ts'
import { readBackup } from '../../adapters/stores/sql/sqlite/backup.ts'
import { databaseFileName, hasDatabase } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { systemClock } from '../../base/clock.ts'
import { createIds } from '../../base/ids.ts'
import { systemRandom } from '../../base/random.ts'
import type { Config } from '../../config/config.ts'
import { createKeyring, type Keyring, type ServerSecrets } from '../../domain/server-secret/keyring.ts'
import { createAuditParts } from '../audit-parts.ts'
import { secretCheckOf } from './backup.ts'
import { NoDatabase } from '../client/connect.ts'
import { lockUnusedFolder } from './lock-folder.ts'
import { readServerSecrets } from './server-secrets.ts'

/** Where the operator finds the secrets that every node on PostgreSQL needs. */
export type SecretPlaces = {
  /** Undefined if it is already in `GATEHOUSE_SECRET`. */
  readonly current: string | undefined
  /** Undefined if there is none, or it is already in `GATEHOUSE_SECRET_PREVIOUS`. */
  readonly previous: string | undefined
}

/** What is moved, and the secret that it was written with. */
export type MoveSource = Disposable & {
  readonly copy: CopySource
  readonly keyring: Keyring
  readonly secretPlaces: SecretPlaces
}

/** Opens the database of the data folder, which stays locked until disposed, or a backup. */
export async function openMoveSource(
  config: Config,
  { file, migrations }: { readonly file: string | undefined; readonly migrations: readonly Migration[] },
): Promise<MoveSource> {
  using opened = new DisposableStack()
  const { path, secrets, secretPlaces } =
    file === undefined ? await lockFolder(config, opened) : openBackup(config, file)
  const keyring = createKeyring(secrets)
  const copy = opened.use(await openCopySource(path, migrations))
  if (file === undefined) copy.assertIntact() // a backup was read when it was opened
  assertOwnSecret(copy, keyring)
  const kept = opened.move()
  return { copy, keyring, secretPlaces, [Symbol.dispose]: () => kept.dispose() }
}

type Found = { readonly path: string; readonly secrets: ServerSecrets; readonly secretPlaces: SecretPlaces }

async function lockFolder(config: Config, opened: DisposableStack): Promise<Found> {
  const { data_dir: dataDir } = config.storage
  if (!hasDatabase(dataDir)) throw new NoDatabase(dataDir)
  opened.use(await lockUnusedFolder(dataDir))
  const { database_url: _, ...storage } = config.storage
  const secrets = readServerSecrets({ ...config, storage }, systemRandom)
  const isPreviousInFolder = secrets.previous !== undefined && config.secret_previous === undefined
  return {
    path: join(dataDir, databaseFileName),
    secrets,
    secretPlaces: {
      current: config.secret === undefined ? `the content of the file ${join(dataDir, 'secret')}` : undefined,
      previous: isPreviousInFolder ? `the content of the file ${join(dataDir, 'secret.previous')}` : undefined,
    },
  }
}

function openBackup(config: Config, file: string): Found {
  const { manifest } = readBackup(file)
  const { secret, 'secret.previous': previous = config.secret_previous } = manifest.secretFiles
  const current = secret ?? config.secret
  if (current === undefined)
    throw new Error('The backup was made without its server secret: set GATEHOUSE_SECRET to the secret of its server.')
  const secrets = { current: current.trim(), previous: previous?.trim() }
  // A backup from before a rotation was made with the secret that is now the previous one.
  if (![secrets.current, secrets.previous].some((each) => each && secretCheckOf(each) === manifest.secretCheck))
    throw wrongSecret()
  const inBackup = (name: string): string | undefined =>
    manifest.secretFiles[name] === undefined
      ? undefined
      : `the content of the file ${name} in the data folder of the backup; gatehouse restore writes it`
  return { path: file, secrets, secretPlaces: { current: inBackup('secret'), previous: inBackup('secret.previous') } }
}

/** With another secret no key would work on PostgreSQL, and nothing could be verified. */
function assertOwnSecret(copy: CopySource, keyring: Keyring): void {
  const ids = copy.secretIds()
  const audit = createAuditParts({ clock: systemClock, ids: createIds(systemClock, systemRandom), keyring })
  const accepted = [...keyring.accepted().map(({ id }) => id), ...audit.keys().map(({ keyId }) => keyId)]
  if (ids.size > 0 && !accepted.some((id) => ids.has(id))) throw wrongSecret()
}

const wrongSecret = (): Error =>
  new Error(
    'GATEHOUSE_SECRET is not the server secret of the data. Set it to the content of the file secret in the data folder, here and on every node.',
  )
