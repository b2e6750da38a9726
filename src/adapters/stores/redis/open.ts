import { parseRedisUrl } from './address.ts'
import { connectRedisCluster } from './cluster.ts'
import { connectRedis, type RedisConnectionOptions, type RedisShards } from './connection.ts'

/** Connects to what the URL names: a server, the primary behind sentinels, or a cluster. */
export const openRedis = (options: RedisConnectionOptions): RedisShards & Disposable =>
  parseRedisUrl(options.url).kind === 'cluster' ? connectRedisCluster(options) : connectRedis(options)
