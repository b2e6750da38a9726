import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { run, type TestsStream } from 'node:test'
import { spec } from 'node:test/reporters'
import { pipeline } from 'node:stream/promises'
import { ownProcess, planProcesses, type TestProcess } from './shared-processes.ts'

export type TestRun = {
  readonly files: readonly string[]
  /** Environment variables for the tests only. */
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** For the entries of processes that run several files. Without it, each file has a process of its own. */
  readonly folder?: string
  /** Time limit of a single test, and of the whole run without any event. Default: a few minutes. */
  readonly longestMs?: number
}

export type TestOutcome = {
  readonly isSuccess: boolean
  /** Names of the skipped tests, each with its reason. */
  readonly skipped: readonly string[]
  /** Files with a failed test. */
  readonly failed: readonly string[]
  /** Files whose process did not end, because of one of them. */
  readonly unfinished: readonly string[]
}

const longestTestMs = 10 * 60_000
const longestIdleMs = 5 * 60_000

/** Compiled sources, kept from run to run. Without it, every process strips types and compiles the whole app again. */
const compileCache = resolve('node_modules/.cache/compile')

/** Runs the files, several processes at a time, and reports to the terminal. */
export async function runTests({ files, environment, signal, folder, longestMs }: TestRun): Promise<TestOutcome> {
  const processes = folder === undefined ? files.map(ownProcess) : planProcesses(files, folder)
  const idle = new AbortController()
  const events = run({
    files: processes.map(({ entry }) => entry),
    env: { ...withoutOwnSettings(process.env), NODE_COMPILE_CACHE: compileCache, ...environment },
    execArgv: ['--import', import.meta.resolve('./end-with-runner.ts')],
    concurrency: availableParallelism(),
    timeout: longestMs ?? longestTestMs,
    signal: AbortSignal.any([signal, idle.signal]),
  })
  const outcome = collectOutcome(events, processes)
  // A test that leaves something open keeps its process alive after its last test, so idle runs are aborted.
  const idleTimer = setTimeout(() => idle.abort(), longestMs ?? longestIdleMs)
  events.on('data', () => idleTimer.refresh())
  await pipeline(events, new spec(), process.stdout, { end: false })
  clearTimeout(idleTimer)
  return outcome()
}

/** Collects events. Call the returned function at the end for the outcome. */
function collectOutcome(events: TestsStream, processes: readonly TestProcess[]): () => TestOutcome {
  let isSuccess = false
  const skipped: string[] = []
  const failed: string[] = []
  const running = new Map(processes.map(({ entry, files }) => [entry, files]))
  const passed = new Set<string>()
  for (const end of ['test:pass', 'test:fail'] as const) {
    events.on(end, ({ name, file, nesting, skip, todo }) => {
      const reason = skip ?? todo
      if (reason !== undefined && reason !== false)
        skipped.push(`${file}: ${name}${reason === true ? '' : ` (${reason})`}`)
      if (end === 'test:pass' && nesting === 0) passed.add(name) // files that share a process are suites named by their paths
    })
  }
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) isSuccess = success
    else {
      if (!success) failed.push(...(running.get(file) ?? []).filter((name) => !passed.has(name)))
      running.delete(file)
    }
  })
  return () => ({ isSuccess, skipped, failed, unfinished: [...running.values()].flat() })
}

/** Removes the settings of the developer's own gateway, above all vendor keys, which must not reach the tests. */
function withoutOwnSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(GATEHOUSE_|DATABASE_URL$|REDIS_URL$|OPENAI_|ANTHROPIC_|OLLAMA_)/
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.test(name)))
}
