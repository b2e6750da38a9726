import type { SendRequest } from '../adapters/network/request.ts'
import { createChangePoll } from '../adapters/stores/sql/change.ts'
import type { Database } from '../adapters/stores/sql/database.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { noFailpoint, type Failpoint } from '../base/failpoint.ts'
import { createIds, type Ids } from '../base/ids.ts'
import { createLog, type Log } from '../base/log.ts'
import { createMetrics, type Metrics } from '../base/metrics.ts'
import { systemRandom, type Random } from '../base/random.ts'
import type { StorageHealth } from '../base/storage-health.ts'
import type { Config, Environment } from '../config/config.ts'
import { fileValuesOf } from '../config/file-values.ts'
import type { Keyring } from '../domain/identity/keyring.ts'
import { createChanges, type Changes } from '../domain/identity/changes.ts'
import { createScheduler, type Scheduler } from '../jobs/scheduler.ts'
import { createLiveValues, type LiveValues } from './live-values.ts'
import { openStorage } from './storage.ts'
import { effectiveUpstreams, type EffectiveUpstream } from './upstreams.ts'

/** What tests put in place of the world. */
export type World = {
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Log
  readonly failpoint?: Failpoint
  /** Stands between export sinks and the network. */
  readonly network?: (request: SendRequest) => SendRequest
}

/** What every storey stands on. Whatever a storey opens it gives to `built`, which closes it in the opposite order. */
export type Infrastructure = Required<World> & {
  readonly built: AsyncDisposableStack
  readonly config: Config
  readonly ids: Ids
  readonly metrics: Metrics
  readonly database: Database
  readonly storage: StorageHealth
  /** Every key that derives from the server secret. */
  readonly keyring: Keyring
  /** Texts of the configuration that follow their files. */
  readonly live: LiveValues
  readonly changes: Changes
  /** Starts the work that runs by the clock. */
  readonly jobs: Scheduler
  readonly upstreams: readonly EffectiveUpstream[]
  /** For housekeeping that failed: worth a line, never a stop. */
  readonly warn: (message: string) => (error: unknown) => void
}

const straight = (request: SendRequest): SendRequest => request

export async function openInfrastructure(
  built: AsyncDisposableStack,
  config: Config,
  { env, world }: { env: Environment; world: World },
): Promise<Infrastructure> {
  const { clock = systemClock, random = systemRandom, failpoint = noFailpoint, network = straight } = world
  const { database, keyring, health: storage } = built.use(await openStorage(config, { clock, random }))
  await storage.probe()
  const upstreams = effectiveUpstreams(config, env)
  const { classifier } = config.moderation
  const upstreamKeys = [...upstreams, classifier].flatMap(({ api_key: key }) => key ?? [])
  const secrets = (): string[] => [...keyring.texts(), ...upstreamKeys, ...live.texts()]
  const log = world.log ?? createLog({ level: config.log.level, secrets })
  built.defer(() => log.flush())
  const say = { warn: (message: string) => log.warn(message), info: (message: string) => log.info(message) }
  const metrics = createMetrics()
  const jobs = createScheduler({ clock, log, metrics })
  const files = fileValuesOf(config)
  const live = createLiveValues(files, say)
  if (files.length > 0) built.use(jobs.start('reload-file-values', live.reload))
  const warn = (message: string) => (error: unknown) => log.warn({ error: String(error) }, message)
  const changes = createChanges(clock)
  if (database.engine === 'postgres') {
    built.use(jobs.start('watch-changes', await createChangePoll({ database, clock, changes })))
  }
  const ids = createIds(clock, random)
  const outside = { clock, random, failpoint, network, log }
  return { built, config, ...outside, ids, metrics, database, storage, keyring, live, changes, jobs, upstreams, warn }
}
