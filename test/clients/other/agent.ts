import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A coding agent as its package brings it. */
export type Agent = {
  /** Its script, within the folder of packages. */
  readonly script: string
  /** Files in its empty home. */
  readonly files?: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type AgentRun = { readonly exitCode: number | null; readonly output: string; readonly complaints: string }

const packages = join(import.meta.dirname, 'node_modules')

/** The name of the agent where it could not be installed, as a reason to skip. */
export const without = (script: string): string | false =>
  existsSync(join(packages, script)) ? false : `${script} could not be installed on this machine`

/** What lies in the working folder of every agent. */
export const note = { name: 'note.txt', text: 'The word is heliotrope.' }

/** Runs an agent once, in an empty home, with nothing of the machine's environment and no way out of the machine. */
export async function runAgent({ script, files = {}, args, env, signal }: Agent): Promise<AgentRun> {
  await using folder = await temporaryFolder()
  for (const [name, content] of Object.entries({ ...files, [note.name]: note.text })) {
    await mkdir(join(folder.path, name, '..'), { recursive: true })
    await writeFile(join(folder.path, name), content)
  }
  const nowhere = 'http://127.0.0.1:9'
  const child = spawn(process.execPath, [join(packages, script), ...args], {
    cwd: folder.path,
    env: {
      PATH: process.env['PATH'],
      HOME: folder.path,
      HTTPS_PROXY: nowhere,
      HTTP_PROXY: nowhere,
      NO_PROXY: '127.0.0.1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // As from a keyboard: the script and the binary that it has started are one group.
  signal?.addEventListener('abort', () => child.pid !== undefined && process.kill(-child.pid, 'SIGINT'))
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: child.exitCode, output, complaints }
}
