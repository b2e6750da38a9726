import { execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { promisify } from 'node:util'

/** A folder as the root file system of a program, as a container runtime provides it. */
export type Container = {
  readonly root: string
  readonly isReadOnly: boolean
  readonly user: number
  readonly workingFolder: string
  /** Folders and files of this machine that the container cannot change, by their path in the container. */
  readonly readOnlyMounts: Readonly<Record<string, string>>
  readonly mounts: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Runs in a mount namespace of its own, so that the mounts end with the program. The program replaces the shell, and so gets the
 * signals that are sent to it.
 */
const enter = `
  set -eu
  root=$1 access=$2 user=$3 folder=$4; shift 4
  mount --bind "$root" "$root"
  while [ "$1" != -- ]; do
    mount --rbind "$3" "$root$2"
    if [ "$1" = ro ]; then mount -o remount,bind,ro "$root$2"; fi
    shift 3
  done
  shift
  mount -o "remount,bind,$access" "$root"
  exec unshare --root="$root" --wd="$folder" --setgid="$user" --setuid="$user" -- "$@"
`

function commandIn(container: Container, words: readonly string[]): [string, string[]] {
  const { root, isReadOnly, user, workingFolder, readOnlyMounts, mounts } = container
  const mountWords = [
    ...Object.entries(readOnlyMounts).flatMap((mount) => ['ro', ...mount]),
    ...Object.entries(mounts).flatMap((mount) => ['rw', ...mount]),
  ]
  const place = [root, isReadOnly ? 'ro' : 'rw', String(user), workingFolder, ...mountWords]
  return ['unshare', ['--mount', '--propagation=private', '/bin/sh', '-c', enter, 'enter', ...place, '--', ...words]]
}

/** Runs a program to its end. */
export async function runIn(container: Container, words: readonly string[]): Promise<string> {
  const [program, args] = commandIn(container, words)
  const options = { env: container.environment, maxBuffer: 64 * 1024 * 1024 }
  return (await promisify(execFile)(program, args, options)).stdout
}

/** Starts a server, and waits for the end of its start message. */
export async function serveIn(container: Container, words: readonly string[]) {
  const [program, args] = commandIn(container, words)
  const child = spawn(program, args, { env: container.environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const printed = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The server has ended:\n${output}`)
      await Promise.race([once(child.stdout, 'data'), closed])
    }
  }
  await printed('Gatehouse started')
  return {
    apiKey: /ak_\w+/.exec(output)?.[0] ?? '',
    printed,
    stop: () => child.kill('SIGTERM'),
    /** The exit code and everything that was printed. */
    async ended() {
      await closed
      return { code: child.exitCode, output }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** An unused port below those that the system gives to connections and to listeners on port 0. */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const server = createServer().listen(port, '0.0.0.0')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return port
  }
}
