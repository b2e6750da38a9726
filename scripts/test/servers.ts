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
  if (findProgram('promtool') === undefined) packages.push('prometheus') // tests the alerts
  if (findProgram('haproxy') === undefined) packages.push('haproxy') // tests the proxy of deploy/compose
  if (!canInstall()) return
  if (packages.length > 0) installPackages(packages, log)
  installBrowser(log)
}

/** For the console. Not every distribution has the headless shell, which needs half the CPU time of Chromium. */
function installBrowser(log: (line: string) => void): void {
  const shell = 'chromium-headless-shell'
  if (process.env['CHROMIUM'] || findProgram(shell) !== undefined || installPackages([shell], log)) return
  if (findProgram('chromium') === undefined) installPackages(['chromium'], log)
}

function installPackages(packages: readonly string[], log: (line: string) => void): boolean {
  log(`installing ${packages.join(', ')}, which some suites need`)
  try {
    install(packages)
    return true
  } catch (error) {
    log(`apt-get failed: ${error instanceof Error ? error.message : String(error)}`)
    return false
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
