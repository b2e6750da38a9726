import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'

export type Task = {
  readonly name: string
  /** A program of `node_modules/.bin` and its arguments. */
  readonly command: readonly [program: string, ...args: string[]]
}

export type TaskOutcome = {
  readonly name: string
  readonly isSuccess: boolean
  readonly output: string
  readonly durationMs: number
}

/** Runs a task and collects its output. */
export async function runTask({ name, command: [program, ...args] }: Task): Promise<TaskOutcome> {
  const startMs = performance.now()
  const tools = join(import.meta.dirname, '../../node_modules/.bin')
  const child = spawn(program, args, {
    env: { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  }
  const [status] = await once(child, 'close')
  return { name, isSuccess: status === 0, output, durationMs: performance.now() - startMs }
}
