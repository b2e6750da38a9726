import { Redis } from 'ioredis'
import { systemClock, type Clock } from '../../../base/clock.ts'
import { LimitStoreError } from '../../../domain/limits/store.ts'
import { parseRedisUrl, type ServerOptions } from './address.ts'
import { createCommandTimeout } from './command-timeout.ts'

/** The servers that share the organizations among them. */
export type RedisShards = {
  /** The server with the keys of an organization; undefined if it is not known. */
  shardOf(organization: string): RedisConnection | undefined
  /** Every server, and a hash tag of which it has the keys. */
  shards(): readonly RedisShard[]
  /** Reads again which servers there are, and their epochs. */
  refresh(): Promise<void>
  /** True if every server is connected. */
  isConnected(): boolean
  /** Resolves once every server is connected. */
  ready(): Promise<void>
}

export type RedisShard = { readonly connection: RedisConnection; readonly tag: string }

/** One pipelined connection to Redis or Valkey. Without a cluster, it is the only shard. */
export type RedisConnection = Disposable &
  RedisShards & {
    readonly client: Redis
    /** Sends a command. Rejects if no reply arrives within the timeout. */
    send<T>(command: (client: Redis) => Promise<T>): Promise<T>
    /**
     * One life of the server's data; null while there is no connection. A server that was restarted, restored, replaced or
     * promoted has another epoch, whatever data it has.
     */
    epoch(): string | null
  }

export type RedisConnectionOptions = {
  /** The URL of a server, or of sentinels. */
  readonly url: string
  /** Short, because the caller of an admission has a local fallback. */
  readonly commandTimeoutMs?: number
  readonly clock?: Clock
  readonly onError?: (error: Error) => void
}

/**
 * A command is sent at most once. Nothing is queued while the server is unreachable, and nothing is resent after a reconnect,
 * because it could reach another run of the server than the intended one.
 */
const sendOnce: ServerOptions = {
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1_000),
  sentinelRetryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1_000),
}

export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  const address = parseRedisUrl(options.url)
  const client =
    address.kind === 'server' ? new Redis(options.url, sendOnce) : new Redis({ ...address.options, ...sendOnce })
  return watchConnection(client, options)
}

/** Connects to one server of a cluster. */
export const connectShard = (server: ServerOptions, options: Omit<RedisConnectionOptions, 'url'>): RedisConnection =>
  watchConnection(new Redis({ ...server, ...sendOnce }), options)

function watchConnection(client: Redis, options: Omit<RedisConnectionOptions, 'url'>): RedisConnection {
  const { commandTimeoutMs = 50, clock = systemClock, onError } = options
  const withTimeout = createCommandTimeout(clock, commandTimeoutMs)
  const send = <T>(command: (sender: Redis) => Promise<T>): Promise<T> => withTimeout(command(client))
  let epoch: string | null = null
  let connected = Promise.withResolvers<void>()

  const readEpoch = async (): Promise<void> => {
    const sections = [send(() => client.info('server')), send(() => client.info('replication'))]
    epoch = epochIn((await Promise.all(sections)).join('\n'))
  }
  const readFirst = async (): Promise<void> => {
    try {
      await readEpoch()
      connected.resolve()
    } catch (error) {
      onError?.(toError(error))
      if (client.status === 'ready') client.disconnect(true) // reconnects
    }
  }
  client.on('error', (error: Error) => onError?.(error))
  client.on('ready', () => void readFirst())
  client.on('close', () => {
    if (epoch !== null) connected = Promise.withResolvers<void>()
    epoch = null
  })
  const connection: RedisConnection = {
    client,
    send,
    epoch: () => epoch,
    shardOf: () => connection,
    shards: () => [{ connection, tag: '0' }],
    async refresh() {
      try {
        await readEpoch()
      } catch (error) {
        throw new LimitStoreError('unreachable', 'the epoch of Redis cannot be read', error)
      }
    },
    isConnected: () => epoch !== null,
    ready: () => connected.promise,
    [Symbol.dispose]: () => client.disconnect(),
  }
  return connection
}

/**
 * The run id of the process. A process that was a replica before has a second replication id, and gets a new first one each
 * time that it is promoted: its data may lack writes that the primary before it had accepted.
 */
function epochIn(info: string): string {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(\\w+)`, 'm').exec(info)?.[1]
  const run = field('run_id')
  // Without a run id, a restart of the server could not be detected, and credits could be spent twice.
  if (run === undefined) throw new Error('the server reports no run_id')
  const wasPromoted = /[1-9a-f]/.test(field('master_replid2') ?? '')
  return wasPromoted ? `${run}${field('master_replid') ?? ''}` : run
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
