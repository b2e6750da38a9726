// What `npm run test:long` runs: the crash suites at full scale and from a seed, and a soak, with their figures.
// `npm run test:long -- credits --runs=5000 --seed=7` runs those whose path contains the word; without words, all of them.
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createRunFolder } from './test/run-folder.ts'
import { runTests } from './test/run.ts'
import { openServers } from './test/servers.ts'

const suites = [
  'test/credits/crash.test.ts',
  'test/faults/credits-kill.test.ts',
  'test/faults/postgres-outage.test.ts',
  'test/faults/soak.test.ts',
  'test/exports/kill.test.ts',
]
const longestMs = 12 * 60 * 60_000
const most = 2 ** 31 - 1

const log = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

process.exitCode = await main()

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '2000' },
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(randomInt(most)) },
    },
  })
  const files = suites.filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word)))
  log(`${files.join(', ')}: --runs=${values.runs} --minutes=${values.minutes} --seed=${values.seed}`)
  await using servers = await openServers(log)
  await using folder = createRunFolder()
  const long = { TEST_LONG_RUNS: values.runs, TEST_LONG_MINUTES: values.minutes, TEST_LONG_SEED: values.seed }
  const environment = { ...servers.environment, ...long, TMPDIR: folder.path }
  const { isSuccess, skipped } = await runTests({ files, environment, signal: interrupted.signal, longestMs })
  for (const line of skipped) log(`skipped: ${line}`)
  return isSuccess && files.length > 0 ? 0 : 1
}
