import { canInstall, install } from '../install/apt.mjs'
import { findPostgres, findProgram, findRedis } from './binaries.ts'
import { pingPostgres, startPostgres } from './postgres.ts'
import type { TestServer } from './ready.ts'
import { pingRedis, startRedis } from './redis.ts'

/** A kind of server. Test suites read its address from an environment variable. */
type Kind = {
  readonly name: string
  readonly variable: string
  readonly debianPackage: string
  find(): string | undefined
  start(programs: string): Promise<TestServer>
  ping(url: string): Promise<void>
}

const kinds: readonly Kind[] = [
  {
    name: 'PostgreSQL',
    variable: 'TEST_DATABASE_URL',
    debianPackage: 'postgresql',
    find: findPostgres,
    start: startPostgres,
    ping: pingPostgres,
  },
  {
    name: 'Redis',
    variable: 'TEST_REDIS_URL',
    debianPackage: 'redis-server',
    find: findRedis,
    start: startRedis,
    ping: pingRedis,
  },
]

export type TestServers = AsyncDisposable & {
  /** Addresses by environment variable. */
  readonly environment: Readonly<Record<string, string>>
  /** Names of the servers that are not available on this machine. */
  readonly missing: readonly string[]
}

/** Uses the servers named in the environment, and starts the others. Installs them first if that is possible. */
export async function openServers(log: (line: string) => void): Promise<TestServers> {
  installMissing(log)
  await using opened = new AsyncDisposableStack()
  const environment: Record<string, string> = {}
  for (const kind of kinds) {
    const server = await openServer(kind)
    if (server !== undefined) environment[kind.variable] = opened.use(server).url
  }
  const kept = opened.move()
  return {
    environment,
    missing: kinds.filter(({ variable }) => !(variable in environment)).map(({ name }) => name),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function installMissing(log: (line: string) => void): void {
  const missing = kinds.filter((kind) => givenUrl(kind) === undefined && kind.find() === undefined)
  const packages = missing.map(({ debianPackage }) => debianPackage)
  if (findProgram('curl') === undefined) packages.push('curl') // tests run the requests of the documentation
  if (!process.env['CHROMIUM'] && findProgram('chromium') === undefined) packages.push('chromium') // for the console
  if (findProgram('promtool') === undefined) packages.push('prometheus') // tests the alerts
  if (findProgram('haproxy') === undefined) packages.push('haproxy') // tests the proxy of deploy/compose
  if (packages.length === 0 || !canInstall()) return
  log(`installing ${packages.join(', ')}, which some suites need`)
  try {
    install(packages)
  } catch (error) {
    log(`apt-get failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function openServer(kind: Kind): Promise<TestServer | undefined> {
  const url = givenUrl(kind)
  if (url === undefined) {
    const programs = kind.find()
    return programs === undefined ? undefined : await kind.start(programs)
  }
  await kind.ping(url).catch((error: unknown) => {
    throw new Error(`${kind.variable} is set, but no ${kind.name} answers there.`, { cause: error })
  })
  return { url, [Symbol.asyncDispose]: async () => {} } // not started here, so not stopped here
}

const givenUrl = ({ variable }: Kind): string | undefined => process.env[variable] || undefined
