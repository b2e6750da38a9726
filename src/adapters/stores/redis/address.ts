import type { RedisOptions } from 'ioredis'

/** How to connect to a server. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping'>

/** Where Redis is. */
export type RedisAddress = {
  /** One server, the primary that Sentinel names, or the shards of a cluster. */
  readonly kind: 'server' | 'sentinel' | 'cluster'
  /** The server, the sentinels, or some servers of the cluster. */
  readonly hosts: readonly RedisHost[]
  /** How to connect to a server of the cluster, or by Sentinel. A single server is found by its URL. */
  readonly options: ServerOptions
}

export type RedisHost = { readonly host: string; readonly port: number }

const form = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?]*)@)?([^@/?]*)(?:\/([^?]*))?(?:\?(.*))?$/

/**
 * `redis://user:password@host:port/database`,
 * `redis+sentinel://user:password@host:port,host:port/name/database?sentinel_password=…`,
 * `redis+cluster://user:password@host:port,host:port`; each with `rediss` for TLS.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme, topology, user = '', hostList = '', path = '', query = ''] = form.exec(url) ?? []
  if (scheme === undefined) throw new TypeError('not a Redis URL')
  const kind = topology === 'sentinel' || topology === 'cluster' ? topology : 'server'
  const hosts = hostList.split(',').map((host) => parseHost(host, kind === 'sentinel' ? 26_379 : 6_379))
  const isTls = scheme === 'rediss'
  const options = { ...credentialsIn(user), ...(isTls && { tls: {} }) }
  if (kind !== 'sentinel') return { kind, hosts, options }
  const [name = '', database = ''] = path.split('/')
  const sentinel = sentinelOptions(hosts, decodeURIComponent(name), new URLSearchParams(query))
  const tls = isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }
  return { kind, hosts, options: { ...options, ...(database !== '' && { db: Number(database) }), ...sentinel, ...tls } }
}

function parseHost(text: string, defaultPort: number): RedisHost {
  const found = /^(?:\[([^\]]+)\]|([^:;]+))?(?::(\d+))?$/.exec(text)
  if (found === null) throw new TypeError('not a Redis URL: separate several hosts by commas, each as host:port')
  const [, bracketed, host = 'localhost', port] = found
  return { host: bracketed ?? host, port: port === undefined ? defaultPort : Number(port) }
}

function credentialsIn(user: string): ServerOptions {
  const [username = '', password = ''] = user.split(/:(.*)/s).map(decodeURIComponent)
  return { ...(username !== '' && { username }), ...(password !== '' && { password }) }
}

function sentinelOptions(sentinels: readonly RedisHost[], name: string, query: URLSearchParams): ServerOptions {
  const username = query.get('sentinel_username')
  const password = query.get('sentinel_password')
  return {
    sentinels: [...sentinels],
    name,
    ...(username !== null && { sentinelUsername: username }),
    ...(password !== null && { sentinelPassword: password }),
  }
}
