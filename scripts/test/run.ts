import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { run, type TestsStream } from 'node:test'
import { spec } from 'node:test/reporters'
import { pipeline } from 'node:stream/promises'

export type TestRun = {
  readonly files: readonly string[]
  /** Added for the tests alone. */
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** What a single test may take, and how long all may be silent; both are short unless somebody wants otherwise. */
  readonly longestMs?: number
}

export type TestOutcome = {
  readonly isSuccess: boolean
  /** Names of what was skipped, each with its reason. */
  readonly skipped: readonly string[]
  /** Files whose process never came to its end. */
  readonly unfinished: readonly string[]
}

const longestTestMs = 10 * 60_000
const longestSilenceMs = 5 * 60_000

/** Runs each file in a process of its own and reports to the terminal as it goes. */
export async function runTests({ files, environment, signal, longestMs }: TestRun): Promise<TestOutcome> {
  const silence = new AbortController()
  const events = run({
    files: [...files],
    env: { ...withoutOwnSettings(process.env), ...environment },
    execArgv: ['--import', import.meta.resolve('./end-with-runner.ts')],
    concurrency: availableParallelism(),
    timeout: longestMs ?? longestTestMs,
    signal: AbortSignal.any([signal, silence.signal]),
  })
  const outcome = collectOutcome(events, files)
  // A test that leaves something open keeps its process alive after the last of its tests: nobody would end it.
  const giveUp = setTimeout(() => silence.abort(), longestMs ?? longestSilenceMs)
  events.on('data', () => giveUp.refresh())
  await pipeline(events, new spec(), process.stdout, { end: false })
  clearTimeout(giveUp)
  return outcome()
}

/** Listens along and answers, at the end, how it went. */
function collectOutcome(events: TestsStream, files: readonly string[]): () => TestOutcome {
  let isSuccess = false
  const skipped: string[] = []
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
    else unfinished.delete(resolve(file))
  })
  return () => ({ isSuccess, skipped, unfinished: [...unfinished].map((file) => relative('.', file)) })
}

/** What a developer has set for a gateway of their own, vendors' keys above all, must not reach the tests. */
function withoutOwnSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(GATEHOUSE_|DATABASE_URL$|REDIS_URL$|OPENAI_|ANTHROPIC_|OLLAMA_)/
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.test(name)))
}
