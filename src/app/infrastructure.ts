import { createChangePoll } from '../adapters/stores/sql/change.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { createIds, type Ids } from '../base/ids.ts'
import { createLog } from '../base/log.ts'
import { createMetrics, type Metrics } from '../base/metrics.ts'
import type { StorageHealth } from '../base/storage-health.ts'
import type { Config, Environment } from '../config/config.ts'
import { fileValuesOf } from '../config/file-values.ts'
import type { Keyring } from '../domain/server-secret/keyring.ts'
import { createChanges, type Changes } from '../domain/mutations/changes.ts'
import { createScheduler, type Scheduler } from '../jobs/scheduler.ts'
import { takeOverSpools } from './storage/leftover-spools.ts'
import { createLiveValues, type LiveValues } from './live-values.ts'
import { openStorage } from './storage/storage.ts'
import type { StorageThreads } from './storage/threads.ts'
import { effectiveUpstreams, type EffectiveUpstream } from './upstreams/upstreams.ts'
import { createReadMetrics, nodeName, spoolFolder, type Workers } from './workers.ts'
import { completeWorld, type World } from './world.ts'

/** What every other part of the app uses. Each part adds what it opens to `built`, which closes it in reverse order. */
export type Infrastructure = Required<Omit<World, 'acceptsLoss' | 'workers'>> &
  StorageThreads & {
    readonly built: AsyncDisposableStack
    readonly config: Config
    readonly dataDir: string
    /** The folder of what waits for PostgreSQL. */
    readonly spoolDir: string
    /** The processes that serve the same ports; undefined if this is the only one. */
    readonly workers: Workers | undefined
    /** The name of this node. */
    readonly nodeName: string
    readonly ids: Ids
    readonly metrics: Metrics
    /** The metrics of this process, and of the other workers if there are any, in the Prometheus text format. */
    readonly readMetrics: () => Promise<string>
    readonly database: Database
    /** The same for the writes that every request needs: while it rejects one of them, the storage counts as failing. */
    readonly requestWrites: Database
    readonly storage: StorageHealth
    /** The keys that are derived from the server secret. */
    readonly keyring: Keyring
    /** Values of the configuration that are reloaded from files. */
    readonly live: LiveValues
    readonly changes: Changes
    /** Starts the work that runs by the clock. */
    readonly jobs: Scheduler
    readonly upstreams: readonly EffectiveUpstream[]
    /** Makes an error handler that only logs, for background work whose failure must not stop the server. */
    readonly warn: (message: string) => (error: unknown) => void
  }

export async function openInfrastructure(
  built: AsyncDisposableStack,
  config: Config,
  { env, world }: { env: Environment; world: World },
): Promise<Infrastructure> {
  const completed = completeWorld(world)
  const { clock, random } = completed
  const { workers } = world
  const opened = built.use(await openStorage(config, { ...world, clock, random }))
  const { database, requestWrites, keyring, verification, encoding, health: storage } = opened
  await storage.probe()
  const upstreams = effectiveUpstreams(config, env)
  const { classifier } = config.moderation
  const keys = [...upstreams, classifier].map(({ api_key: key }) => key)
  const traceHeaders = Object.values(config.traces.headers)
  const archiveAuth = Object.values(config.audit.archive?.s3?.auth ?? {})
  const configured = [
    ...keys,
    ...traceHeaders,
    ...archiveAuth,
    config.console.oidc?.client_secret,
    ...mailSecrets(config),
  ].flatMap((secret) => secret ?? [])
  const secrets = (): string[] => [...keyring.texts(), ...configured, ...live.texts()]
  const log = world.log ?? createLog({ level: config.log.level, secrets, worker: workers?.number })
  built.defer(() => log.flush())
  const messages = { warn: (message: string) => log.warn(message), info: (message: string) => log.info(message) }
  const metrics = createMetrics()
  const jobs = createScheduler({ clock, log, metrics })
  const files = fileValuesOf(config)
  const live = createLiveValues(files, messages)
  if (files.length > 0) built.use(jobs.start('reload-file-values', live.reload))
  const warn = (message: string) => (error: unknown) => log.warn({ error: String(error) }, message)
  const changes = createChanges(clock)
  if (database.engine === 'postgres') {
    built.use(jobs.start('watch-changes', await createChangePoll({ database, clock, changes })))
  }
  const { data_dir: dataDir } = config.storage
  if (database.engine === 'postgres') {
    const count = await takeOverSpools(dataDir, workers)
    if (count > 0) log.warn({ count }, 'took over charges, audit events and responses that another process had spooled')
  }
  const ids = createIds(clock, random)
  return {
    built,
    config,
    dataDir,
    spoolDir: spoolFolder(dataDir, workers),
    workers,
    nodeName: nodeName(workers),
    ...completed,
    log,
    ids,
    metrics,
    readMetrics: createReadMetrics(metrics, workers),
    database,
    requestWrites,
    storage,
    verification,
    encoding,
    keyring,
    live,
    changes,
    jobs,
    upstreams,
    warn,
  }
}

/** The address of the mail server has a password in it. */
function mailSecrets({ mail: { smtp_url: url } }: Config): readonly string[] {
  const password = url === undefined ? '' : new URL(url).password
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
