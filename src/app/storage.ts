import { fileURLToPath } from 'node:url'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import { createStorageHealth, type ProbedStorage } from '../base/storage-health.ts'
import type { Config } from '../config/config.ts'
import { createKeyring, type Keyring } from '../domain/identity/keyring.ts'
import { lockDataFolder } from '../adapters/stores/sql/sqlite/data-folder.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { withErrorMapping } from '../adapters/stores/sql/error-mapping.ts'
import { migrate, readMigrations } from '../adapters/stores/sql/migrations/migrate.ts'
import { writeProbe } from '../adapters/stores/sql/write-probe.ts'
import { writeToDisk } from './disk.ts'
import { readServerSecrets } from './server-secrets.ts'

export type OpenStorage = AsyncDisposable & {
  readonly database: Database
  /** Probes the storage from its first `probe` on. */
  readonly health: ProbedStorage
  /** Every key that derives from the server secret. */
  readonly keyring: Keyring
  readonly migrationsApplied: number
}

export const migrationsDir = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Opens the database that the configuration names, and brings it up to date. */
export async function openStorage(
  config: Config,
  { clock, random }: { clock: Clock; random: Random },
): Promise<OpenStorage> {
  await using opened = new AsyncDisposableStack()
  const { data_dir: dataDir, database_url: url, database_timeout_ms: answerTimeoutMs } = config.storage
  if (url === undefined) opened.use(lockDataFolder(dataDir))
  const keyring = createKeyring(readServerSecrets(config, random))
  const { database, migrationsApplied } =
    url === undefined
      ? await embedded(dataDir, clock).catch(cannotOpen(`database in ${dataDir}`))
      : await shared({ url, answerTimeoutMs }, clock).catch(cannotOpen('PostgreSQL database that DATABASE_URL names'))
  opened.use(database)
  const health = opened.use(
    createStorageHealth({
      hasSpool: database.engine === 'postgres',
      clock,
      writeDatabase: () => writeProbe(database),
      writeDisk: (wasFailing) => writeToDisk(dataDir, wasFailing),
    }),
  )
  const kept = opened.move()
  return {
    database: withErrorMapping(database, health),
    health,
    keyring,
    migrationsApplied,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const cannotOpen =
  (name: string) =>
  (cause: Error): never => {
    throw new Error(`The ${name} cannot be opened: ${cause.message}`, { cause })
  }

type Opened = { readonly database: Database; readonly migrationsApplied: number }

// Each engine is loaded only where it is used.

async function embedded(dataDir: string, clock: Clock): Promise<Opened> {
  const { openSqlite } = await import('../adapters/stores/sql/sqlite/sqlite.ts')
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openSqlite({ dataDir }))
  const migrationsApplied = await migrate(database, await readMigrations(migrationsDir), clock)
  opened.move() // before that its thread would keep a process alive that has nothing more to do
  return { database, migrationsApplied }
}

/** A migration may take longer than any statement of the service may: it has a connection of its own. */
async function shared(options: { url: string; answerTimeoutMs: number }, clock: Clock): Promise<Opened> {
  const { url } = options
  const { openPostgres } = await import('../adapters/stores/sql/postgres/postgres.ts')
  await using patient = await openPostgres({ url, poolSize: 1, statementTimeoutMs: 0, answerTimeoutMs: 0 })
  const migrationsApplied = await migrate(patient, await readMigrations(migrationsDir), clock)
  return { database: await openPostgres(options), migrationsApplied }
}
