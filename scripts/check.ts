// What `npm run check` runs: all static checks, in parallel, after the types that they need are generated.
import { availableParallelism } from 'node:os'
import { runTask, type Task, type TaskOutcome } from './check/task.ts'

const tasks: readonly Task[] = [
  { name: 'lint', command: ['oxlint', '--type-aware', '--format=unix'] },
  { name: 'types', command: ['tsc', '--noEmit', '--project', '.'] },
  { name: 'types of the console', command: ['tsc', '--noEmit', '--project', 'console'] },
  { name: 'types of its tests', command: ['tsc', '--noEmit', '--project', 'console/tsconfig.test.json'] },
  { name: 'dead code', command: ['knip', '--no-progress'] },
  {
    name: 'architecture and docs',
    command: ['node', '--test', '--test-reporter=dot', 'test/architecture.test.ts', 'test/docs.test.ts'],
  },
  { name: 'format', command: ['oxfmt', '--check', '.'] },
]

/** Linter and compiler read what it writes. */
const first: Task = { name: 'types of the API', command: ['node', 'scripts/console-types.ts'] }

const outcomes = [await runTask(first), ...(await runAll(tasks, availableParallelism()))]
const failed = outcomes.filter(({ isSuccess }) => !isSuccess)
for (const { name, output } of failed) process.stdout.write(`\n── ${name} ──\n${output.trim()}\n`)
process.stdout.write(`\n${outcomes.map(lineOf).join('\n')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

/** Runs at most `concurrency` tasks at a time, because more tasks than processors only slow each other down. */
async function runAll(waiting: readonly Task[], concurrency: number): Promise<TaskOutcome[]> {
  const queue = waiting.entries()
  const finished: TaskOutcome[] = []
  const worker = async (): Promise<void> => {
    for (const [at, task] of queue) finished[at] = await runTask(task)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return finished
}

function lineOf({ name, isSuccess, durationMs }: TaskOutcome): string {
  return `${isSuccess ? '✔' : '✖'} ${name.padEnd(24)}${(durationMs / 1000).toFixed(1).padStart(5)} s`
}
