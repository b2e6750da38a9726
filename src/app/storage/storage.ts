import { fileURLToPath } from 'node:url'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import { createStorageHealth, type ProbedStorage } from '../../base/storage-health.ts'
import type { Config } from '../../config/config.ts'
import { createKeyring, type Keyring } from '../../domain/server-secret/keyring.ts'
import { createPartitions } from '../../adapters/stores/sql/audit/partitions.ts'
import { assertNoUnfinishedCopy } from '../../adapters/stores/sql/copy/progress.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import { withErrorMapping } from '../../adapters/stores/sql/error-mapping.ts'
import type { PostgresOptions, ReportOptions } from '../../adapters/stores/sql/postgres/pool.ts'
import type { SqliteOptions } from '../../adapters/stores/sql/sqlite/sqlite.ts'
import { migrate, readMigrations } from '../../adapters/stores/sql/migrate.ts'
import { writeProbe } from '../../adapters/stores/sql/write-probe.ts'
import { writeToDisk } from '../../adapters/stores/disk-probe.ts'
import { lockUnusedFolder } from './lock-folder.ts'
import { readServerSecrets } from './server-secrets.ts'
import { createStorageThreads, type StorageThreads } from './threads.ts'

export type OpenStorage = AsyncDisposable &
  StorageThreads & {
    readonly database: Database
    /** The same for the writes that every request needs: while it rejects one of them, the storage counts as failing. */
    readonly requestWrites: Database
    /** Probes the storage regularly after its first `probe`. */
    readonly health: ProbedStorage
    /** The keys that are derived from the server secret. */
    readonly keyring: Keyring
    readonly migrationsApplied: number
  }

export type StorageParts = {
  readonly clock: Clock
  readonly random: Random
  /** Starts although the redo log of a crashed process is damaged. */
  readonly acceptsLoss?: boolean
}

export const migrationsDir = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** Opens the database that the configuration names, and applies its migrations. */
export async function openStorage(
  config: Config,
  { clock, random, acceptsLoss = false }: StorageParts,
): Promise<OpenStorage> {
  await using opened = new AsyncDisposableStack()
  const { data_dir: dataDir, database_url: url, report_timeout_ms: reportTimeoutMs } = config.storage
  if (url === undefined) opened.use(await lockUnusedFolder(dataDir))
  const keyring = createKeyring(readServerSecrets(config, random))
  const { database, migrationsApplied } =
    url === undefined
      ? await embedded({ dataDir, acceptsLoss, reportTimeoutMs }, clock).catch(cannotOpen(`database in ${dataDir}`))
      : await shared(postgresOptions(url, config.storage), { clock, retentionDays: config.audit.retention_days }).catch(
          cannotOpen('PostgreSQL database that DATABASE_URL names'),
        )
  opened.use(database)
  const health = opened.use(
    createStorageHealth({
      hasSpool: database.engine === 'postgres',
      clock,
      writeDatabase: () => writeProbe(database),
      writeDisk: (wasFailing) => writeToDisk(dataDir, wasFailing),
    }),
  )
  const threads = createStorageThreads(opened, database, config.storage)
  const kept = opened.move()
  return {
    ...threads,
    database: withErrorMapping(database, { failed: health.failed, written: health.written }),
    requestWrites: withErrorMapping(database, health),
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

// Only the engine that is used is loaded.

async function embedded(options: SqliteOptions, clock: Clock): Promise<Opened> {
  const { openSqlite } = await import('../../adapters/stores/sql/sqlite/sqlite.ts')
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openSqlite({ ...options, hasRedoLog: true }))
  const migrationsApplied = await migrate(database, await readMigrations(migrationsDir), clock)
  opened.move() // a failed migration closes the database; otherwise its thread would keep the process alive
  return { database, migrationsApplied }
}

type Partitioning = { readonly clock: Clock; readonly retentionDays: number }

/** Migrations have a connection without timeouts, because one may take longer than any statement of the server. */
async function shared(
  options: PostgresOptions & ReportOptions,
  { clock, retentionDays }: Partitioning,
): Promise<Opened> {
  const { url } = options
  const { openPostgres } = await import('../../adapters/stores/sql/postgres/postgres.ts')
  await using unlimited = await openPostgres({ url, poolSize: 1, statementTimeoutMs: 0, answerTimeoutMs: 0 })
  await assertNoUnfinishedCopy(unlimited)
  const migrationsApplied = await migrate(unlimited, await readMigrations(migrationsDir), clock)
  // A job creates them if this fails, and until then the default partition takes their events.
  await createPartitions(unlimited, { nowMs: clock.nowMs(), retentionDays }).catch(() => undefined)
  // Otherwise the plans for new tables and indexes are guesses until the server analyzes them on its own.
  if (migrationsApplied > 0) await unlimited.transaction((tx) => tx.run('analyze'))
  return { database: await openPostgres(options), migrationsApplied }
}

const postgresOptions = (url: string, storage: Config['storage']): PostgresOptions & ReportOptions => ({
  url,
  poolSize: storage.pool_size,
  answerTimeoutMs: storage.database_timeout_ms,
  reportsUrl: storage.reports_url,
  reportsPoolSize: storage.reports_pool_size,
  reportTimeoutMs: storage.report_timeout_ms,
})
