import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { findRedis } from '../../scripts/test/binaries.ts'
import { freePort } from '../../scripts/test/ready.ts'
import { startRedisServer, type RedisServer } from './redis-server.ts'
import { temporaryFolder } from './temporary-folder.ts'

const portOf = ({ url }: RedisServer): number => Number(new URL(url).port)

/** Repeats until the condition holds. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** A primary, a replica, and a sentinel that watches them. */
export async function startSentinel() {
  await using opened = new AsyncDisposableStack()
  const primary = opened.use(await startRedisServer())
  const replica = opened.use(await startRedisServer('--replicaof', '127.0.0.1', String(portOf(primary))))
  const port = await freePort()
  const folder = opened.use(await temporaryFolder())
  const file = join(folder.path, 'sentinel.conf')
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder.path}`,
    `sentinel monitor main 127.0.0.1 ${portOf(primary)} 1`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 3000',
  ]
  await writeFile(file, `${settings.join('\n')}\n`)
  opened.defer(await startProcess([file, '--sentinel'], '+slave slave'))
  const sentinel = new Redis(port, '127.0.0.1').on('error', () => {})
  opened.defer(() => sentinel.disconnect())
  const kept = opened.move()
  return {
    primary,
    replica,
    url: `redis+sentinel://127.0.0.1:${port}/main`,
    /** Promotes the replica, and makes the primary its replica. */
    async failover(): Promise<void> {
      await until(async () => (await sentinel.call('SENTINEL', 'FAILOVER', 'main').catch(() => '')) === 'OK')
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Resolves to a function that kills it, once it has printed a line with the text. */
async function startProcess(args: readonly string[], text: string): Promise<() => Promise<void>> {
  const started = spawn(findRedis() ?? 'redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(started.stdout)) if (line.includes(text)) break
  started.stdout.resume()
  return async () => {
    const exited = once(started, 'exit')
    started.kill('SIGKILL')
    await exited
  }
}

/** Three primaries, each with a third of the hash slots, and a replica of the first. */
export async function startRedisCluster() {
  await using opened = new AsyncDisposableStack()
  const start = async (): Promise<RedisServer> => {
    const ports = ['--cluster-port', String(await freePort()), '--cluster-node-timeout', '1000']
    return opened.use(await startRedisServer('--cluster-enabled', 'yes', ...ports))
  }
  const servers = [await start(), await start(), await start(), await start()] as const
  const clients = servers.map(({ url }) => new Redis(url).on('error', () => {})) // servers are killed
  opened.defer(() => clients.forEach((client) => client.disconnect()))
  const [first, ...others] = clients
  if (first === undefined) throw new Error('no servers')

  const busPort = async (client: Redis): Promise<number> => Number((await client.config('GET', 'cluster-port'))[1])
  for (const client of others)
    await first.call('CLUSTER', 'MEET', '127.0.0.1', String(client.options.port), String(await busPort(client)))
  const third = Math.floor(16_384 / 3)
  const ranges = [0, third, 2 * third, 16_384]
  for (const [at, client] of clients.slice(0, 3).entries())
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(ranges[at]), String((ranges[at + 1] ?? 0) - 1))
  await until(async () => (await stateOf(clients)).every((state) => state.includes('cluster_known_nodes:4')))
  const replica = clients[3] ?? first
  const id = String(await first.call('CLUSTER', 'MYID'))
  await until(async () => (await replica.call('CLUSTER', 'REPLICATE', id).catch(() => '')) === 'OK')
  await until(async () => (await stateOf(clients)).every((state) => state.includes('cluster_state:ok')))
  await until(async () => (await replica.info('replication')).includes('master_link_status:up'))
  const kept = opened.move()
  return {
    servers,
    url: `redis+cluster://127.0.0.1:${portOf(servers[1])},127.0.0.1:${portOf(servers[0])}`,
    /** Promotes the replica of the first primary, which stays as its replica. */
    async failover(): Promise<void> {
      await replica.call('CLUSTER', 'FAILOVER')
      await until(async () => (await first.info('replication')).includes('role:slave'))
      await until(async () => (await stateOf(clients)).every((state) => state.includes('cluster_state:ok')))
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const stateOf = (clients: readonly Redis[]): Promise<string[]> =>
  Promise.all(clients.map(async (client) => String(await client.call('CLUSTER', 'INFO'))))
