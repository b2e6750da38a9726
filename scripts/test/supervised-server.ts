import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverAccount, type Account } from './account.ts'

/**
 * The shell script of the supervisor. It starts a server and waits for the end of its own standard input, which comes when this
 * process ends in any way, including `kill -9`. Then it stops the server and removes the folder. It runs in a separate session, so
 * that signals to the group of this process do not reach it, and it closes the pipes to this process, so that they cannot break
 * during the cleanup.
 */
const supervisor = `
  folder=$1 signal=$2; shift 2
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  { read -r _ <&3; kill -s "$signal" "$server"; kill -s CONT "$server"; } 2>/dev/null &
  watcher=$!
  exec >/dev/null 2>&1
  wait "$server"
  kill "$watcher" 2>/dev/null
  cd / && rm -rf "$folder"
`

export type ServerSpec = {
  readonly name: string
  /** Written into the server's folder before it starts. */
  readonly files: Readonly<Record<string, string>>
  /** Runs in the server's folder. */
  readonly command: readonly string[]
  /** The signal that stops it at once. Its data is discarded in any case. */
  readonly stopSignal: 'QUIT' | 'KILL'
  /** The account that runs the server and owns its folder. Default: `serverAccount()`. */
  readonly account?: Account | undefined
}

export type SupervisedServer = AsyncDisposable & {
  readonly folder: string
  /** Resolves with the last output of the server when it has ended. */
  readonly ended: Promise<string>
}

/** Starts a server in a temporary folder. Both are removed when it is disposed, or when this process ends. */
export function startSupervised({ account = serverAccount(), ...spec }: ServerSpec): SupervisedServer {
  const folder = makeFolder(spec, account)
  const child = spawn('/bin/sh', ['-c', supervisor, 'supervisor', folder, spec.stopSignal, ...spec.command], {
    cwd: folder,
    detached: true,
    stdio: 'pipe',
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  let output = ''
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4000)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const closed = once(child, 'close')
  return {
    folder,
    ended: closed.then(() => output),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

function makeFolder({ name, files }: ServerSpec, account: Account | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-test-${name}-`))
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  if (account !== undefined) {
    for (const path of ['', ...Object.keys(files)]) chownSync(join(folder, path), account.uid, account.gid)
  }
  return folder
}
