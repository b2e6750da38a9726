import { canInstall, install } from '../install/apt.mjs'
import { findPostgres, findProgram, findRedis } from './binaries.ts'
import { pingPostgres, startPostgres } from './postgres.ts'
import type { TestServer } from './ready.ts'
import { pingRedis, startRedis } from './redis.ts'

/** A kind of server that suites ask for by an environment variable. */
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
  /** Addresses, by the variable that the suites read. */
  readonly environment: Readonly<Record<string, string>>
  /** Servers that this machine cannot offer, by name. */
  readonly missing: readonly string[]
}

/** Takes the servers named in the environment; starts, and where it may installs, those that are not. */
export async function openServers(say: (line: string) => void): Promise<TestServers> {
  installMissing(say)
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

function installMissing(say: (line: string) => void): void {
  const missing = kinds.filter((kind) => givenUrl(kind) === undefined && kind.find() === undefined)
  const packages = missing.map(({ debianPackage }) => debianPackage)
  if (findProgram('curl') === undefined) packages.push('curl') // tests run the requests that we tell newcomers to paste
  if (packages.length === 0 || !canInstall()) return
  say(`installing ${packages.join(', ')}: some suites need the real thing`)
  try {
    install(packages)
  } catch (error) {
    say(`apt-get did not succeed: ${error instanceof Error ? error.message : String(error)}`)
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
  return { url, [Symbol.asyncDispose]: async () => {} } // not ours to stop
}

const givenUrl = ({ variable }: Kind): string | undefined => process.env[variable] || undefined
