import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverAccount, type Account } from './account.ts'

/**
 * The shell that starts a server and waits for the end of its own standard input, which comes when this process
 * ends, however it ends: also by kill -9. Then it stops the server and removes the folder.
 * It runs in a session of its own, so that what is sent to our process group does not reach it, and it lets go of
 * the pipes to us, so that they cannot break while it cleans up.
 */
const keeper = `
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

export type ServerOrder = {
  readonly name: string
  /** Written into the server's folder before it starts. */
  readonly files: Readonly<Record<string, string>>
  /** Run inside the folder. */
  readonly command: readonly string[]
  /** What makes it stop at once; its data is thrown away anyhow. */
  readonly stopSignal: 'QUIT' | 'KILL'
  /** Whom it runs as and whose folder it is; left out, whoever may run servers here. */
  readonly account?: Account | undefined
}

export type KeptServer = AsyncDisposable & {
  readonly folder: string
  /** Resolves with the server's last words when it ends by itself. */
  readonly ended: Promise<string>
}

/** Starts a server in a throw-away folder. Server and folder are gone when it is disposed of, or this process is. */
export function keepServer({ account = serverAccount(), ...order }: ServerOrder): KeptServer {
  const folder = makeFolder(order, account)
  const child = spawn('/bin/sh', ['-c', keeper, 'keeper', folder, order.stopSignal, ...order.command], {
    cwd: folder,
    detached: true,
    stdio: 'pipe',
    ...(account && { uid: account.uid, gid: account.gid }),
  })
  let lastWords = ''
  const listen = (chunk: Buffer): void => {
    lastWords = (lastWords + chunk.toString()).slice(-4000)
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  const closed = once(child, 'close')
  return {
    folder,
    ended: closed.then(() => lastWords),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

function makeFolder({ name, files }: ServerOrder, account: Account | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-test-${name}-`))
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  if (account !== undefined) {
    for (const path of ['', ...Object.keys(files)]) chownSync(join(folder, path), account.uid, account.gid)
  }
  return folder
}
