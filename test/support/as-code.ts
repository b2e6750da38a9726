import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../src/cli/run.ts'
import { startAdminApp } from './administration.ts'
import { temporaryFolder } from './temporary-folder.ts'

/**
 * The commands for resources as files, in this process, with a running server, which is faster than opening the database for
 * each command. Its sinks may connect to this machine only.
 */
export async function openAsCode(config: Readonly<Record<string, unknown>> = {}) {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const files = join(folder.path, 'files')
  mkdirSync(files)
  const env: Record<string, string> = { GATEHOUSE_DATA_DIR: join(folder.path, 'data'), GATEHOUSE_LOG_LEVEL: 'silent' }
  const run = async (...args: string[]) => {
    const [output, errors]: [string[], string[]] = [[], []]
    const status = await runCommandLine(args, {
      env,
      print: (line) => void output.push(line),
      printError: (line) => void errors.push(line),
      confirm: async () => false,
    })
    return { status, output: output.join('\n'), errors: errors.join('\n') }
  }
  const storage = { data_dir: join(folder.path, 'data') }
  const app = opened.use(
    await startAdminApp({ config: { storage, exports: { allow_addresses: ['127.0.0.0/8'] }, ...config } }),
  )
  const kept = opened.move()
  return {
    app,
    env,
    path: folder.path,
    files,
    run,
    json: async (...args: string[]) => JSON.parse((await run(...args, '--json')).output),
    write: (text: string, name = 'all.yaml'): void => writeFileSync(join(files, name), text),
    plan: (...args: string[]) => run('plan', '-f', files, ...args),
    apply: (...args: string[]) => run('apply', '-f', files, '--yes', ...args),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
