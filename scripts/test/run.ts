import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pipeline } from 'node:stream/promises'

export type TestRun = {
  readonly files: readonly string[]
  /** Added for the tests alone. */
  readonly environment: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export type TestOutcome = {
  readonly isSuccess: boolean
  /** Names of what was skipped, each with its reason. */
  readonly skipped: readonly string[]
}

const longestFileMs = 10 * 60_000

/** Runs each file in a process of its own and reports to the terminal as it goes. */
export async function runTests({ files, environment, signal }: TestRun): Promise<TestOutcome> {
  let isSuccess = false
  const skipped: string[] = []
  const events = run({
    files: [...files],
    env: { ...withoutOwnSettings(process.env), ...environment },
    execArgv: ['--import', import.meta.resolve('./end-with-runner.ts')],
    concurrency: availableParallelism(),
    timeout: longestFileMs,
    signal,
  })
  for (const outcome of ['test:pass', 'test:fail'] as const) {
    events.on(outcome, ({ name, file, skip, todo }) => {
      const reason = skip ?? todo
      if (reason !== undefined && reason !== false)
        skipped.push(`${file}: ${name}${reason === true ? '' : ` (${reason})`}`)
    })
  }
  events.on('test:summary', ({ file, success }) => {
    if (file === undefined) isSuccess = success
  })
  await pipeline(events, new spec(), process.stdout, { end: false })
  return { isSuccess, skipped }
}

/** What a developer has set for a gateway of their own, vendors' keys above all, must not reach the tests. */
function withoutOwnSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = /^(GATEHOUSE_|DATABASE_URL$|REDIS_URL$|OPENAI_|ANTHROPIC_|OLLAMA_)/
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.test(name)))
}
