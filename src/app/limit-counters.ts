import type { LimitSettings } from '../domain/limits/admission.ts'
import { singleNode, type ClusterMembership } from '../domain/limits/cluster-membership.ts'
import { createLimitEngine, type LimitEngine } from '../domain/limits/engine/engine.ts'
import { createDividedStore, createFallbackStore } from '../domain/limits/fallback.ts'
import { persistUsage } from '../domain/limits/persisted-usage.ts'
import { limitStoreFailures, type LimitStore } from '../domain/limits/store.ts'
import { limitUsageStore } from '../adapters/stores/sql/limit-usage.ts'
import { joinNodes, type NodeMember } from '../adapters/stores/sql/nodes.ts'
import type { Infrastructure } from './infrastructure.ts'

export type LimitCounterParts = Infrastructure & { readonly settings: LimitSettings }

/** What counts requests: in this process, or in Redis with this process to fall back on. */
export type Counters = AsyncDisposable & {
  readonly limits: LimitStore
  readonly membership: ClusterMembership
  /** The life of this process's own counters. */
  readonly ownEpoch: string
  /** That of the shared ones: null while they cannot be used, undefined where there are none. */
  sharedEpoch(): string | null | undefined
  /** What is amiss, though requests are served. */
  trouble(): string | undefined
  /** In words, for whoever starts the service. */
  readonly says: string
}

const firstContactMs = 1_000

export async function openCounters(parts: LimitCounterParts): Promise<Counters> {
  await using opened = new AsyncDisposableStack()
  const { config, database, clock, ids, settings } = parts
  const ownEpoch = ids('node')
  const membership = database.engine === 'sqlite' ? singleNode(ownEpoch) : await joinCluster(parts, ownEpoch, opened)
  // Wall time, so that windows can be handed to another process, but without its steps.
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
      ? opened.use(await byOneself(own))
      : opened.use(await shared(own, config.storage.redis_url))
  const kept = opened.move()
  return { ...chosen, membership, ownEpoch, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function joinCluster(parts: LimitCounterParts, ownId: string, opened: AsyncDisposableStack): Promise<NodeMember> {
  const { database, clock, jobs, warn } = parts
  const onError = warn('this node could not leave the cluster')
  const member = opened.use(await joinNodes({ database, clock, ownId, onError }))
  opened.use(jobs.start('node-heartbeat', member.look))
  return member
}

type OwnParts = LimitCounterParts & {
  readonly membership: ClusterMembership
  readonly ownEpoch: string
  readonly local: LimitEngine
  readonly unsent: LimitEngine
}
type Chosen = Pick<Counters, 'limits' | 'sharedEpoch' | 'trouble' | 'says'>

async function byOneself({
  database,
  membership,
  clock,
  local,
  log,
  jobs,
  warn,
}: OwnParts): Promise<Chosen & AsyncDisposable> {
  const quiet = { sharedEpoch: () => undefined, trouble: () => undefined, async [Symbol.asyncDispose]() {} }
  if (database.engine === 'sqlite') {
    const usage = await persistUsage({ store: limitUsageStore(database), engine: local, clock })
    const kept = new AsyncDisposableStack()
    kept.defer(() => usage.save().catch(warn('the usage counters of the limits could not be saved at shutdown')))
    kept.use(jobs.start('save-limit-usage', usage.save))
    kept.use(jobs.start('remove-old-limit-usage', usage.removeOld))
    const close = (): Promise<void> => kept.disposeAsync()
    return { ...quiet, limits: local, says: 'counted in this process', [Symbol.asyncDispose]: close }
  }
  const says = 'divided among the nodes; set REDIS_URL to count them together'
  log.warn({ nodes: membership.count() }, `limits are ${says}`)
  return { ...quiet, limits: createDividedStore(local, () => membership.count()), says }
}

async function shared(parts: OwnParts, url: string): Promise<Chosen & AsyncDisposable> {
  const { membership, ownEpoch, local, unsent, settings, clock, random, log, metrics, jobs } = parts
  // Loaded only where it is used.
  const { connectRedis } = await import('../adapters/stores/redis/connection.ts')
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
    connectRedis({
      url,
      commandTimeoutMs: parts.config.storage.redis_timeout_ms,
      onError: (error) => log.debug({ error: String(error) }, 'no connection to Redis'),
    }),
  )
  const store = opened.use(
    createFallbackStore({
      shared: createRedisLimitStore({ connection, settings }),
      local,
      unsent,
      nodeId: ownEpoch,
      membership,
      clock,
      random,
      onFailure(operation, { reason, message }) {
        failures.add({ operation, reason })
        if (reason === 'script') log.error({ operation, error: message }, 'a script of the counters failed')
      },
      onChange: (isDegraded) =>
        isDegraded
          ? log.error('Redis is out of reach: this node counts by itself, and admits its share of each limit')
          : log.warn('Redis is back: limits are counted together again'),
    }),
  )
  opened.use(jobs.start('contribute-usage', store.sync))
  // Few requests are too few failures for the store to give up on Redis; without a connection they fail all the same.
  const isDegraded = (): boolean => store.isDegraded() || connection.epoch() === null
  metrics.gauge('gatehouse_limits_degraded', '1 while this node counts by itself because Redis is out of reach.', () =>
    isDegraded() ? 1 : 0,
  )
  await Promise.race([connection.ready(), new Promise<void>((resolve) => clock.after(firstContactMs, resolve))])
  // Otherwise this node, and all others, would keep to their shares for the first second.
  await store.sync()
  if (isDegraded()) log.warn('Redis is not reached yet: until it is, this node counts by itself')
  const kept = opened.move()
  return {
    limits: store,
    sharedEpoch: () => (store.isDegraded() ? null : connection.epoch()),
    trouble: () => (isDegraded() ? 'Redis is out of reach; this node counts by itself' : undefined),
    says: 'counted in Redis',
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
