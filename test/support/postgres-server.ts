import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverAccount } from '../../scripts/test/account.ts'
import { findPostgres } from '../../scripts/test/binaries.ts'
import { pingPostgres } from '../../scripts/test/postgres.ts'
import { freePort } from '../../scripts/test/ready.ts'
import { temporaryFolder } from './temporary-folder.ts'

const programs = findPostgres()

/** Why a suite that pauses and kills a PostgreSQL of its own is skipped, or false. */
export const withoutPostgresServer = programs === undefined ? 'needs PostgreSQL; it is not on this machine' : false

/** A PostgreSQL server with its own folder, which tests can pause, kill and restart. */
export type PostgresServer = AsyncDisposable & {
  readonly url: string
  /** Suspends every process of the server: connections stay open without an answer. */
  pause(): void
  resume(): void
  /** Kills the server, as a crash would; then connections are refused. */
  kill(): Promise<void>
  /** Starts it again on the same port, with the durable data. */
  start(): Promise<void>
}

export async function startPostgresServer(): Promise<PostgresServer> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const account = serverAccount()
  if (account !== undefined) chownSync(folder.path, account.uid, account.gid)
  const asAccount = account === undefined ? {} : { uid: account.uid, gid: account.gid }
  const data = join(folder.path, 'data')
  const initialize = ['--pgdata', data, '--username=gatehouse', '--auth=trust', '--encoding=UTF8', '--locale=C']
  const made = spawnSync(join(programs ?? '', 'initdb'), [...initialize, '--no-sync'], { ...asAccount, cwd: '/' })
  if (made.status !== 0) throw new Error(String(made.stderr))
  const port = await freePort()
  const url = `postgres://gatehouse@127.0.0.1:${port}/postgres`
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=100',
    'shared_buffers=32MB',
  ]

  function run() {
    const options = settings.flatMap((setting) => ['-c', setting])
    const program = join(programs ?? '', 'postgres')
    return spawn(program, ['-D', data, '-p', String(port), ...options], { ...asAccount, cwd: '/', stdio: 'ignore' })
  }
  let running = run()

  async function untilAnswering(): Promise<void> {
    for (;;) {
      if (running.exitCode !== null) throw new Error(`postgres ended with ${running.exitCode}`)
      try {
        return await pingPostgres(url)
      } catch {
        await sleep(50)
      }
    }
  }
  async function kill(): Promise<void> {
    if (running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    const processes = familyOf(running.pid)
    signalAll(processes, 'SIGKILL')
    await exited
    while (processes.some(isAlive)) await sleep(10) // the next server needs the folder's shared memory
  }

  opened.defer(kill)
  await untilAnswering()
  const kept = opened.move()
  return {
    url,
    pause: () => pauseFamily(running.pid),
    resume: () => signalAll(familyOf(running.pid), 'SIGCONT'),
    kill,
    async start() {
      await kill()
      running = run()
      await untilAnswering()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** A process and its children; PostgreSQL has one for each connection. */
function familyOf(pid: number | undefined): number[] {
  if (pid === undefined) return []
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
  return [pid, ...children.map(Number)]
}

/**
 * The parent first: a child that it starts after the list was read would go on, and a server that answers some connections counts as
 * available. SIGSTOP takes effect a moment after the call, so the list is read until it holds no running process.
 */
function pauseFamily(pid: number | undefined): void {
  if (pid === undefined) return
  for (let running = [pid]; running.length > 0; running = familyOf(pid).filter((each) => !isStopped(each)))
    signalAll(running, 'SIGSTOP')
}

const parentOf = (pid: string): number => Number(stateOf(pid)[1])

const isStopped = (pid: number): boolean => ['T', 'Z', undefined].includes(stateOf(pid)[0])

/** The state and the parent of a process, from the fields after its name. Empty if the process has ended. */
function stateOf(pid: number | string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // the process has ended meanwhile
    }
  }
}

/** A process that ended and was not collected yet has the state Z. */
const isAlive = (pid: number): boolean => !['Z', undefined].includes(stateOf(pid)[0])
