import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A coding agent, run from its npm package. */
export type Agent = {
  /** Its script, relative to the package folder. */
  readonly script: string
  /** Files to create in its home folder. */
  readonly files?: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export type AgentRun = { readonly exitCode: number | null; readonly output: string; readonly complaints: string }

const packages = join(import.meta.dirname, 'node_modules')

/** The reason to skip if the agent could not be installed. */
export const without = (script: string): string | false =>
  existsSync(join(packages, script)) ? false : `${script} could not be installed on this machine`

/** The file in the working folder of every agent. */
export const note = { name: 'note.txt', text: 'The word is heliotrope.' }

/** Runs an agent once, with an empty home folder, a clean environment and no access to other hosts. */
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
  // Signals the process group, as Ctrl+C does: the script starts a binary of its own.
  signal?.addEventListener('abort', () => child.pid !== undefined && process.kill(-child.pid, 'SIGINT'))
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: child.exitCode, output, complaints }
}
