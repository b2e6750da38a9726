import { systemClock } from '../../../base/clock.ts'
import { LimitStoreError } from '../../../domain/limits/store.ts'
import { parseRedisUrl, type RedisHost, type ServerOptions } from './address.ts'
import { connectShard, type RedisConnection, type RedisConnectionOptions } from './connection.ts'
import type { RedisShard, RedisShards } from './connection.ts'
import { slotCount, slotOf } from './hash-slot.ts'

type SlotRange = RedisHost & { readonly from: number; readonly to: number }
type Owners = readonly (RedisConnection | undefined)[]

/**
 * Connections to the primaries of a Redis Cluster. The client of a cluster would resend a command to another server after a
 * failover. Here a command names the epoch of the server that it is for, so it is sent to that server or not at all.
 */
export function connectRedisCluster(options: RedisConnectionOptions): RedisShards & Disposable {
  const { commandTimeoutMs = 50, clock = systemClock } = options
  const { hosts, options: server } = parseRedisUrl(options.url)
  const connections = createConnections(server, options)
  const seeds = hosts.map((host) => connections.to(host))
  let owners: Owners = []
  let shards: readonly RedisShard[] = []
  let ranges = ''
  let refreshing: Promise<void> | undefined
  let isDisposed = false

  async function refreshNow(): Promise<void> {
    const found = await readRanges([...shards.map(({ connection }) => connection), ...seeds])
    if (isDisposed) return
    const next = ownersOf(found, connections.to)
    const primaries = new Set(next.filter((owner) => owner !== undefined))
    await Promise.all(Array.from(primaries, readEpoch))
    if (JSON.stringify(found) === ranges) return
    ranges = JSON.stringify(found)
    owners = next
    shards = Array.from(primaries, (connection) => ({ connection, tag: tagOf(connection, next) }))
    connections.keepOnly(new Set([...seeds, ...primaries]))
  }
  /** A server that was demoted and promoted again has another epoch, on the same connection. A new one has yet to connect. */
  async function readEpoch(primary: RedisConnection): Promise<void> {
    if (primary.isConnected()) return primary.refresh()
    const { promise: timeout, resolve } = Promise.withResolvers<void>()
    const cancel = clock.after(commandTimeoutMs, resolve)
    await Promise.race([primary.ready(), timeout])
    cancel()
  }

  const refresh = (): Promise<void> =>
    (refreshing ??= refreshNow()
      .catch((error: unknown) => {
        throw new LimitStoreError('unreachable', 'the servers of the cluster cannot be read', error)
      })
      .finally(() => (refreshing = undefined)))

  return {
    shardOf: (organization) => owners[slotOf(organization)],
    shards: () => shards,
    refresh,
    isConnected: () => shards.length > 0 && shards.every(({ connection }) => connection.isConnected()),
    async ready() {
      await Promise.any(seeds.map((seed) => seed.ready()))
      await refresh()
      await Promise.all(shards.map(({ connection }) => connection.ready()))
    },
    [Symbol.dispose]() {
      isDisposed = true
      connections.keepOnly(new Set())
    },
  }
}

/** One connection to each server, created when it is needed. */
function createConnections(server: ServerOptions, options: RedisConnectionOptions) {
  const connections = new Map<string, RedisConnection>()
  return {
    to({ host, port }: RedisHost): RedisConnection {
      const name = `${host} ${port}`
      const connection = connections.get(name) ?? connectShard({ ...server, host, port }, options)
      connections.set(name, connection)
      return connection
    },
    keepOnly(kept: ReadonlySet<RedisConnection>): void {
      for (const [name, connection] of connections) {
        if (kept.has(connection)) continue
        connections.delete(name)
        connection[Symbol.dispose]()
      }
    },
  }
}

/** From the first server that answers. */
async function readRanges(servers: readonly RedisConnection[]): Promise<readonly SlotRange[]> {
  const failures: unknown[] = []
  for (const { client, send } of servers) {
    try {
      const reply = await send(() => client.cluster('SLOTS'))
      return reply.map((range) => rangeIn(range, client.options.host ?? ''))
    } catch (error) {
      failures.push(error)
    }
  }
  throw new AggregateError(failures, 'no server answers')
}

/** A server that does not know its own name leaves it empty: it is the one that was asked. */
function rangeIn([from, to, primary]: readonly unknown[], askedHost: string): SlotRange {
  const [host, port] = Array.isArray(primary) ? primary : []
  return { from: Number(from), to: Number(to), host: host ? String(host) : askedHost, port: Number(port) }
}

function ownersOf(ranges: readonly SlotRange[], connectionTo: (host: RedisHost) => RedisConnection): Owners {
  const owners = Array.from({ length: slotCount }, (): RedisConnection | undefined => undefined)
  for (const range of ranges) owners.fill(connectionTo(range), range.from, range.to + 1)
  return owners
}

/** A hash tag whose slot is on this server: the lowest number, so that all nodes use the same key for its list of nodes. */
function tagOf(connection: RedisConnection, owners: Owners): string {
  for (let number = 0; ; number++) if (owners[slotOf(String(number))] === connection) return String(number)
}
