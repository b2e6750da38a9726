import type { Metrics } from '../base/metrics.ts'
import type { LimitSettings } from '../domain/limits/admission.ts'
import { singleNode, type ClusterMembership } from '../domain/limits/cluster-membership.ts'
import { createLimitEngine, type LimitEngine } from '../domain/limits/engine/engine.ts'
import { createDividedStore, createFallbackStore } from '../domain/limits/fallback.ts'
import { persistUsage } from '../domain/limits/persisted-usage.ts'
import { limitStoreFailures, type LimitStore } from '../domain/limits/store.ts'
import { sharedOperations, withCallTimes, type SharedOperation } from '../domain/limits/timed-store.ts'
import { limitUsageStore } from '../adapters/stores/sql/limit-usage.ts'
import { joinNodes, type NodeMember } from '../adapters/stores/sql/nodes.ts'
import type { Infrastructure } from './infrastructure.ts'

export type LimitCounterParts = Infrastructure & { readonly settings: LimitSettings }

/** The counters of the limits: in this process, or in Redis with this process as the fallback. */
export type Counters = AsyncDisposable & {
  readonly limits: LimitStore
  readonly membership: ClusterMembership
  /** The nodes that are alive, this one included. */
  nodeIds(): readonly string[]
  /** The epoch of this process's counters: it changes when they are lost. */
  readonly ownEpoch: string
  /** The epoch of the shared counters of an organization: null while they cannot be reached, undefined if there are none. */
  sharedEpoch(organizationId: string): string | null | undefined
  /** A problem that degrades the limits while requests are still served, or undefined. */
  problem(): string | undefined
  /** Where limits are counted, for the start message. */
  readonly description: string
}

const connectWaitMs = 1_000

export async function openCounters(parts: LimitCounterParts): Promise<Counters> {
  await using opened = new AsyncDisposableStack()
  const { config, database, clock, ids, settings } = parts
  const ownEpoch = ids('node')
  const member = database.engine === 'sqlite' ? undefined : await joinCluster(parts, ownEpoch, opened)
  const membership = member ?? singleNode(ownEpoch)
  const nodeIds = (): readonly string[] => member?.ids() ?? [ownEpoch]
  // Wall time at the start plus monotonic time: another process can continue the windows, and clock steps do not matter.
  const startMs = clock.nowMs() - clock.monotonicMs()
  const createEngine = (): LimitEngine =>
    createLimitEngine({
      nowMs: () => Math.floor(startMs + clock.monotonicMs()),
      epoch: ownEpoch,
      settings,
      tracksChanges: database.engine === 'sqlite' && config.storage.redis_url === undefined,
    })
  const own = { ...parts, membership, ownEpoch, local: createEngine(), unsent: createEngine() }
  const chosen =
    config.storage.redis_url === undefined
      ? opened.use(await openLocal(own))
      : opened.use(await openShared(own, config.storage.redis_url))
  const kept = opened.move()
  return { ...chosen, membership, nodeIds, ownEpoch, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function joinCluster(parts: LimitCounterParts, ownId: string, opened: AsyncDisposableStack): Promise<NodeMember> {
  const { database, clock, jobs, warn } = parts
  const onError = warn('this node could not leave the cluster')
  const member = opened.use(await joinNodes({ database, clock, ownId, onError }))
  opened.use(jobs.start('node-heartbeat', member.refresh))
  return member
}

type OwnParts = LimitCounterParts & {
  readonly membership: ClusterMembership
  readonly ownEpoch: string
  readonly local: LimitEngine
  readonly unsent: LimitEngine
}
type Chosen = Pick<Counters, 'limits' | 'sharedEpoch' | 'problem' | 'description'>

async function openLocal({
  database,
  membership,
  clock,
  local,
  log,
  jobs,
  warn,
}: OwnParts): Promise<Chosen & AsyncDisposable> {
  const defaults = { sharedEpoch: () => undefined, problem: () => undefined, async [Symbol.asyncDispose]() {} }
  if (database.engine === 'sqlite') {
    const usage = await persistUsage({ store: limitUsageStore(database), engine: local, clock })
    const kept = new AsyncDisposableStack()
    kept.defer(() => usage.saveAll().catch(warn('the usage counters of the limits could not be saved at shutdown')))
    kept.use(jobs.start('save-limit-usage', usage.save))
    kept.use(jobs.start('remove-old-limit-usage', usage.removeOld))
    const close = (): Promise<void> => kept.disposeAsync()
    return { ...defaults, limits: local, description: 'counted in this process', [Symbol.asyncDispose]: close }
  }
  const description = 'divided among the nodes; set REDIS_URL to count them together'
  log.warn({ nodes: membership.count() }, `limits are ${description}`)
  return { ...defaults, limits: createDividedStore(local, () => membership.count()), description }
}

async function openShared(parts: OwnParts, url: string): Promise<Chosen & AsyncDisposable> {
  const { membership, ownEpoch, local, unsent, settings, clock, random, log, metrics, jobs } = parts
  // The Redis client is loaded only if it is used.
  const { openRedis } = await import('../adapters/stores/redis/open.ts')
  const { createRedisLimitStore } = await import('../adapters/stores/redis/limit-store.ts')
  const failures = metrics.counter(
    'gatehouse_limit_store_failures_total',
    'Calls to the shared counters that failed.',
    {
      operation: ['admit', 'settle', 'leave', 'renew', 'grant', 'close', 'accounts'],
      reason: limitStoreFailures,
    },
  )
  await using opened = new AsyncDisposableStack()
  const connection = opened.use(
    openRedis({
      url,
      commandTimeoutMs: parts.config.storage.redis_timeout_ms,
      onError: (error) => log.debug({ error: String(error) }, 'no connection to Redis'),
    }),
  )
  const store = opened.use(
    createFallbackStore({
      shared: withCallTimes(createRedisLimitStore({ connection, settings }), {
        clock,
        onEnded: createCallHistogram(metrics),
      }),
      local,
      unsent,
      nodeId: ownEpoch,
      membership,
      clock,
      random,
      onFailure(operation, { reason, message }) {
        failures.add({ operation, reason })
        if (reason === 'script') log.error({ operation, error: message }, 'a Redis script failed')
      },
      onChange: (isDegraded) =>
        isDegraded
          ? log.error('Redis cannot be reached: this node counts on its own, and admits its share of each limit')
          : log.warn('Redis can be reached again: limits are shared again'),
    }),
  )
  opened.use(jobs.start('contribute-usage', store.sync))
  // With few requests the circuit breaker does not open, so a missing connection counts as degraded too.
  const isDegraded = (): boolean => store.isDegraded() || !connection.isConnected()
  metrics.gauge(
    'gatehouse_limits_degraded',
    '1 while this node counts on its own because Redis cannot be reached.',
    () => (isDegraded() ? 1 : 0),
  )
  const connected = connection.ready().catch(() => {}) // a cluster that cannot be read yet is read again by the job
  await Promise.race([connected, new Promise<void>((resolve) => clock.after(connectWaitMs, resolve))])
  // Without this call all nodes would be limited to their shares for the first second.
  await store.sync()
  if (isDegraded()) log.warn('Redis cannot be reached yet: until then this node counts on its own')
  const kept = opened.move()
  return {
    limits: store,
    sharedEpoch: (organizationId) =>
      store.isDegraded() ? null : (connection.shardOf(organizationId)?.epoch() ?? null),
    problem: () => (isDegraded() ? 'Redis cannot be reached; this node counts on its own' : undefined),
    description: 'counted in Redis',
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** The timeout of a call is 50 ms by default. */
const callBuckets = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1]

function createCallHistogram(metrics: Metrics): (operation: SharedOperation, seconds: number) => void {
  const histogram = metrics.histogram(
    'gatehouse_limit_store_seconds',
    'The time that calls to the shared counters took, with those that failed.',
    { labels: { operation: sharedOperations }, buckets: callBuckets },
  )
  const observe = new Map(sharedOperations.map((operation) => [operation, histogram.series({ operation })]))
  return (operation, seconds) => observe.get(operation)?.(seconds)
}
