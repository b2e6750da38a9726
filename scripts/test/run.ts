import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { run, type TestsStream } from 'node:test'
import { spec } from 'node:test/reporters'
import { pipeline } from 'node:stream/promises'

export type TestRun = {
  readonly files: readonly string[]
  /** Environment variables for the tests only. */
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Time limit of a single test, and of the whole run without any event. Default: a few minutes. */
  readonly longestMs?: number
}

export type TestOutcome = {
  readonly isSuccess: boolean
  /** Names of the skipped tests, each with its reason. */
  readonly skipped: readonly string[]
  /** Files with a failed test. */
  readonly failed: readonly string[]
  /** Files whose process did not end. */
  readonly unfinished: readonly string[]
}

const longestTestMs = 10 * 60_000
const longestIdleMs = 5 * 60_000

/** Compiled sources, kept from run to run. Without it, every process strips types and compiles the whole app again. */
const compileCache = resolve('node_modules/.cache/compile')

/** Runs each file in a separate process and reports to the terminal. */
export async function runTests({ files, environment, signal, longestMs }: TestRun): Promise<TestOutcome> {
  const idle = new AbortController()
  const events = run({
    files: [...files],
    env: { ...withoutOwnSettings(process.env), NODE_COMPILE_CACHE: compileCache, ...environment },
    execArgv: ['--import', import.meta.resolve('./end-with-runner.ts')],
    concurrency: availableParallelism(),
    timeout: longestMs ?? longestTestMs,
    signal: AbortSignal.any([signal, idle.signal]),
  })
  const outcome = collectOutcome(events, files)
  // A test that leaves something open keeps its process alive after its last test, so idle runs are aborted.
  const idleTimer = setTimeout(() => idle.abort(), longestMs ?? longestIdleMs)
  events.on('data', () => idleTimer.refresh())
  await pipeline(events, new spec(), process.stdout, { end: false })
  clearTimeout(idleTimer)
  return outcome()
}

/** Collects events. Call the returned function at the end for the outcome. */
function collectOutcome(events: TestsStream, files: readonly string[]): () => TestOutcome {
  let isSuccess = false
  const skipped: string[] = []
  const failed: string[] = []
  const unfinished = new Set(files.map((file) => resolve(file)))
  for (const end of ['test:pass', 'test:fail'] as const) {
    events.on(end, ({ name, file, skip, todo }) => {
      const reason = skip ?? todo
      if (reason !== undefined && reason !== false)
        skipped.push(`${file}: ${name}${reason === true ? '' : ` (${reason})`}`)
    })
  }
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) isSuccess = success
    else {
      unfinished.delete(resolve(file))
      if (!success) failed.push(relative('.', file))
    }
  })
  return () => ({ isSuccess, skipped, failed, unfinished: [...unfinished].map((file) => relative('.', file)) })
}

/** Removes the settings of the developer's own gateway, above all vendor keys, which must not reach the tests. */
function withoutOwnSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(GATEHOUSE_|DATABASE_URL$|REDIS_URL$|OPENAI_|ANTHROPIC_|OLLAMA_)/
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.test(name)))
}
