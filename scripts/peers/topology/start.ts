import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { parse, stringify } from 'yaml'
import { ownAccount } from '../../test/account.ts'
import { findPostgres, findProgram, findRedis } from '../../test/binaries.ts'
import { startPostgres } from '../../test/postgres.ts'
import { freePort, waitFor } from '../../test/ready.ts'
import { pingRedis } from '../../test/redis.ts'
import { startSupervised } from '../../test/supervised-server.ts'
import { collectorProgram } from '../collector.ts'
import { mountedFiles, readCompose, variablesIn, type ComposeService } from './compose-file.ts'
import { createNode, runGatehouse, type NodeEnvironment, type TopologyNode } from './node.ts'

/** The cluster of deploy/compose, of programs of this machine, on loopback addresses. */
export type Topology = AsyncDisposable & {
  readonly proxyUrl: string
  readonly prometheusUrl: string
  readonly nodes: readonly TopologyNode[]
  /** Runs a command on the database of the cluster and returns its JSON output. */
  command(...args: readonly string[]): Record<string, unknown>
  /** Undefined if the collector is not built. */
  readonly collectorUrl: string | undefined
}

type TopologyOptions = {
  /** Added to the configuration file of the nodes. */
  readonly settings: object
  /** The server that gets the traces instead of Tempo. */
  readonly tempoUrl: string
}

/** Loopback addresses by the addresses of the compose file, such as `node-1:8080`. */
type Addresses = Map<string, string>

type Parts = {
  readonly opened: AsyncDisposableStack
  readonly addresses: Addresses
  service(name: string): ComposeService
}

const listened = [
  'valkey:6379',
  'collector:4318',
  'node-1:8080',
  'node-1:9090',
  'node-2:8080',
  'node-2:9090',
  ':8080',
  ':8404',
]

/** Starts everything with the variables that `gatehouse deploy env` writes. */
export async function startTopology({ settings, tempoUrl }: TopologyOptions): Promise<Topology> {
  await using opened = new AsyncDisposableStack()
  const env = { PATH: process.env['PATH'] ?? '' }
  const variables = variablesIn(runGatehouse(env, 'deploy', 'env', '--profiles', 'cluster,observe'))
  const hasCollector = existsSync(collectorProgram)
  const { services } = readCompose(hasCollector ? variables : { ...variables, OTEL_EXPORTER_OTLP_ENDPOINT: '' })
  const addresses: Addresses = new Map()
  for (const address of listened) addresses.set(address, `127.0.0.1:${await freePort()}`)
  const parts: Parts = { opened, addresses, service: (name) => services[name] ?? fail(`no service ${name}`) }
  await startDatabase(parts)
  await startValkey(parts)
  const collectorUrl = hasCollector ? await startCollector(parts, tempoUrl) : undefined
  const { nodes, command } = await startNodes(parts, settings)
  await startProxy(parts)
  const prometheusUrl = await startPrometheus(parts)
  const kept = opened.move()
  return {
    proxyUrl: `http://${addresses.get(':8080')}`,
    prometheusUrl,
    nodes,
    command,
    collectorUrl,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function fail(message: string): never {
  throw new Error(message)
}

/** Replaces the addresses of containers by loopback ones. */
function onLoopback(text: string, addresses: Addresses): string {
  const named = [...addresses].filter(([address]) => !address.startsWith(':'))
  const replaced = named.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
  return replaced.replaceAll(/(?<=bind ):\d+/g, (port) => addresses.get(port) ?? port)
}

async function startDatabase({ opened, addresses, service }: Parts): Promise<void> {
  const { POSTGRES_PASSWORD: password, POSTGRES_DB: name } = service('postgres').environment ?? {}
  const { url } = opened.use(await startPostgres(findPostgres() ?? fail('no PostgreSQL'), password))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  addresses.set('postgres:5432', new URL(url).host)
}

async function startValkey({ opened, addresses, service }: Parts): Promise<void> {
  const { command: written = [], environment = {} } = service('valkey')
  const [, port = ''] = addresses.get('valkey:6379')?.split(':') ?? []
  const program = findRedis() ?? fail('no Redis')
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const here = `${program} - --bind 127.0.0.1 --port ${port}`
  const command = ['env', ...variables, ...written.map((text) => text.replace('valkey-server -', here))]
  const server = opened.use(startSupervised({ name: 'valkey', files: {}, command, stopSignal: 'KILL' }))
  await waitFor('Valkey', server, () => pingRedis(`redis://:${environment['REDISCLI_AUTH']}@127.0.0.1:${port}`))
}

async function startNodes({ opened, addresses, service }: Parts, settings: object) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-topology-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const environmentOf = (name: string): NodeEnvironment => {
    const text = mountedFiles(service(name))['gatehouse.yaml'] ?? fail(`no configuration of ${name}`)
    const environment = Object.entries(service(name).environment ?? {})
    const file = join(folder, `${name}.yaml`)
    writeFileSync(file, stringify({ ...parse(text), ...settings }))
    const portOf = (address: string): string => addresses.get(address)?.split(':')[1] ?? '0'
    return {
      ...Object.fromEntries(environment.map(([key, value]) => [key, onLoopback(value, addresses)])),
      PATH: process.env['PATH'] ?? '',
      GATEHOUSE_CONFIG: file,
      GATEHOUSE_HOST: '127.0.0.1',
      GATEHOUSE_PORT: portOf(`${name}:8080`),
      GATEHOUSE_METRICS_PORT: portOf(`${name}:9090`),
      GATEHOUSE_DATA_DIR: join(folder, 'commands'),
      GATEHOUSE_LOG_LEVEL: 'silent',
    }
  }
  const commands = environmentOf('migrate')
  runGatehouse(commands, ...(service('migrate').command ?? []))
  const nodes = ['node-1', 'node-2'].map((name) => {
    const own = join(folder, name)
    mkdirSync(own)
    return opened.use(createNode(environmentOf(name), own))
  })
  await Promise.all(nodes.map((node) => node.start()))
  const command = (...args: readonly string[]): Record<string, unknown> =>
    JSON.parse(runGatehouse(commands, ...args, '--json'))
  return { nodes, command }
}

async function startProxy({ opened, addresses, service }: Parts): Promise<void> {
  const text = mountedFiles(service('proxy'))['haproxy.cfg'] ?? fail('no configuration of the proxy')
  const server = opened.use(
    startSupervised({
      name: 'haproxy',
      files: { 'haproxy.cfg': onLoopback(text, addresses) },
      command: [findProgram('haproxy') ?? fail('no HAProxy'), '-db', '-f', 'haproxy.cfg'],
      stopSignal: 'KILL',
    }),
  )
  await waitFor('HAProxy', server, () => expectOk(`http://${addresses.get(':8404')}/health`))
}

async function startPrometheus({ opened, addresses, service }: Parts): Promise<string> {
  const local = (text: string): string =>
    onLoopback(text, addresses).replaceAll('/etc/prometheus/', '').replaceAll('=/prometheus', '=data')
  const { command: args = [] } = service('prometheus')
  const files = Object.entries(mountedFiles(service('prometheus'))).map(([name, text]) => [name, local(text)])
  const port = await freePort()
  const program = findProgram('prometheus') ?? fail('no Prometheus')
  const server = opened.use(
    startSupervised({
      name: 'prometheus',
      files: Object.fromEntries(files),
      command: [program, ...args.map(local), `--web.listen-address=127.0.0.1:${port}`],
      stopSignal: 'KILL',
    }),
  )
  const url = `http://127.0.0.1:${port}`
  await waitFor('Prometheus', server, () => expectOk(`${url}/-/ready`))
  return url
}

async function startCollector({ opened, addresses, service }: Parts, tempoUrl: string): Promise<string> {
  const address = addresses.get('collector:4318') ?? ''
  const text = mountedFiles(service('collector'))['config.yaml'] ?? fail('no configuration of the collector')
  const server = opened.use(
    startSupervised({
      name: 'collector',
      files: { 'config.yaml': text.replace('0.0.0.0:4318', address).replace('http://tempo:4318', tempoUrl) },
      command: [collectorProgram, '--config', 'config.yaml'],
      stopSignal: 'KILL',
      account: ownAccount(), // the built binary is executable only by its owner
    }),
  )
  // Without a body the receiver answers 4xx, which shows that it listens.
  await waitFor('OpenTelemetry Collector', server, async () => void (await fetch(`http://${address}/v1/traces`)))
  return `http://${address}`
}

async function expectOk(url: string): Promise<void> {
  const { ok, status } = await fetch(url)
  if (!ok) throw new Error(`it answered ${status}`)
}
