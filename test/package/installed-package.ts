import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { serverAccount, type Account } from '../../scripts/test/account.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)

/** The folder of a new user who installed the tarball, with an empty home folder and without any setting of this project. */
export type InstalledPackage = AsyncDisposable & Awaited<ReturnType<typeof installPackage>>

export async function installPackage(tarball: string) {
  const root = await temporaryFolder()
  const folderOf = (name: string): string => join(root.path, name)
  const [home, app, temporary, cache] = [folderOf('home'), folderOf('app'), folderOf('tmp'), folderOf('cache')]
  for (const folder of [home, app, temporary, cache]) mkdirSync(folder)
  const env = {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    npm_config_cache: cache, // npm writes a log there even if it only starts a command
    npm_config_update_notifier: 'false',
    npm_config_fetch_timeout: '60000', // a download that stalls is tried again before the test run counts as idle
    GATEHOUSE_PORT: '0',
    GATEHOUSE_LOG_LEVEL: 'silent',
  }
  await install(app, tarball, env)
  const modules = join(app, 'node_modules')
  setWritable(modules, false)
  const account = otherAccount()
  if (account !== undefined)
    for (const folder of [root.path, home, app, temporary, cache]) chownSync(folder, account.uid, account.gid)
  const options = { cwd: app, env, ...account }
  return {
    home,
    app,
    temporary,
    modules,
    /** Runs a command to its end. */
    npx: (...args: readonly string[]) => run('npx', ['--no-install', 'gatehouse', ...args], options),
    /** Starts the server with npx. */
    serveWithNpx: () => serve(['npx', '--no-install', 'gatehouse', 'serve'], options),
    /** Starts the server without npm, which writes to the folders for temporary files too. */
    serve: (...args: readonly string[]) => serve([join(modules, '.bin/gatehouse'), 'serve', ...args], options),
    async [Symbol.asyncDispose]() {
      setWritable(modules, true)
      await root[Symbol.asyncDispose]()
    },
  }
}

/** Root may write to read-only files, so as root the program runs as another user, unless the clone is closed to others. */
function otherAccount(): Account | undefined {
  const account = serverAccount()
  return account && spawnSync(process.execPath, ['--version'], account).status === 0 ? account : undefined
}

type ProcessOptions = { readonly cwd: string; readonly env: Record<string, string>; readonly uid?: number }

/** Takes packages from the cache of the user who runs the tests where it has them, and with that user's registry settings. */
async function install(folder: string, tarball: string, env: Record<string, string>): Promise<void> {
  const own = {
    npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc'),
  }
  const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball]
  const settings = Object.entries(process.env).filter(([name]) => name.toLowerCase().startsWith('npm_config_'))
  await run('npm', args, { cwd: folder, env: { ...env, ...Object.fromEntries(settings), ...own } })
}

function setWritable(path: string, isWritable: boolean): void {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return
  chmodSync(path, isWritable ? status.mode | 0o200 : (status.mode & 0o555) | (status.isDirectory() ? 0o555 : 0o444))
  if (status.isDirectory()) for (const name of readdirSync(path)) setWritable(join(path, name), isWritable)
}

/** Waits for the start message, which is one line. */
async function serve([program, ...args]: readonly [string, ...string[]], options: ProcessOptions) {
  const child = spawn(program, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // leads a process group, so that the clean-up also ends what it started
  })
  const exit = once(child, 'exit')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  while (!output.includes('\n') && child.exitCode === null) await Promise.race([once(child.stdout, 'data'), exit])
  return {
    output,
    url: /"api":"([^"]+)\/v1"/.exec(output)?.[1] ?? '',
    apiKey: /ak_\w+/.exec(output)?.[0] ?? '',
    /** Sends SIGTERM to this process alone, not to those that it started. The server holds the other end of its standard output: this returns when all have ended. */
    async stop(): Promise<string> {
      const closed = once(child.stdout, 'close')
      child.kill('SIGTERM')
      await closed
      return output
    },
    [Symbol.dispose]() {
      try {
        process.kill(-(child.pid ?? Number.NaN), 'SIGKILL')
      } catch {
        // All processes have ended.
      }
    },
  }
}
