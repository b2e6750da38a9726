// What `npm test` runs: every test of the project, with a PostgreSQL and a Redis where they can be had.
// `npm test -- src/domain docs.test` runs only the files whose path contains one of the words.
// With CI=true whatever is skipped is a failure.
import { findTestFiles } from './test/files.ts'
import { createRunFolder } from './test/run-folder.ts'
import { runTests } from './test/run.ts'
import { openServers } from './test/servers.ts'

const say = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  say(error instanceof Error ? [error.message, error.cause].filter(Boolean).join('\n') : String(error))
  return 1
})

async function main(words: readonly string[]): Promise<number> {
  const isStrict = process.env.CI === 'true'
  const files = findTestFiles(words)
  await using servers = await openServers(say)
  for (const name of servers.missing) say(`${name} is not on this machine: the suites that need it are skipped`)
  await using folder = createRunFolder()
  const environment = { ...servers.environment, TMPDIR: folder.path }
  const { isSuccess, skipped, unfinished } = await runTests({ files, environment, signal: interrupted.signal })
  if (interrupted.signal.aborted) return 130
  for (const file of unfinished) say(`${file} did not come to its end: something in it was left open`)
  for (const line of skipped) say(`skipped: ${line}`)
  if (isStrict && skipped.length > 0) say('with CI=true nothing may be skipped')
  return isSuccess && !(isStrict && (skipped.length > 0 || servers.missing.length > 0)) ? 0 : 1
}
