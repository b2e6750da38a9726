import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type Program = AsyncDisposable & {
  readonly pid: number | undefined
  /** Its output, line by line; ends with the program. */
  readonly lines: AsyncIterable<string>
  /** Kills it, so that none of its code runs. */
  kill(): Promise<void>
}

/** Runs a TypeScript file in its own process, so that it can be killed. */
export function startProgram(file: URL, args: readonly string[]): Program {
  const child = spawn(process.execPath, [file.pathname, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { pid: child.pid, lines, kill, [Symbol.asyncDispose]: kill }
}
