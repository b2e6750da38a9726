// What `npm run test:clients` runs: third-party clients against a gateway, with every kind of upstream. They are a separate
// project (test/clients/other) with its own dependencies, which this script installs.
// `npm run test:clients -- codex` runs only the files whose path contains one of the words.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { installPackages } from './test-clients/packages.ts'
import { installPython, pythonEnvironments } from './test-clients/python.ts'
import { createRunFolder } from './test/run-folder.ts'
import { runTests } from './test/run.ts'

const folder = 'test/clients/other'

const log = (line: string): void => void process.stderr.write(`gatehouse: ${line}\n`)

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort())

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  log(error instanceof Error ? error.message : String(error))
  return 1
})

async function main(words: readonly string[]): Promise<number> {
  for (const name of installPackages(folder, log)) log(`not available: ${name}`)
  for (const environment of pythonEnvironments) {
    const problem = installPython(folder, environment, log)
    if (problem !== undefined) log(`not available: ${environment.name} (${problem})`)
  }
  if (spawnSync('tsc', ['--noEmit', '--project', folder], { stdio: 'inherit' }).status !== 0) return 1
  const files = globSync(`${folder}/*.test.ts`)
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort()
  await using runFolder = createRunFolder()
  const environment = { TMPDIR: runFolder.path }
  const { isSuccess, skipped } = await runTests({ files, environment, signal: interrupted.signal })
  for (const line of skipped) log(`skipped: ${line}`)
  const isStrict = process.env.CI === 'true'
  return isSuccess && !(isStrict && skipped.length > 0) ? 0 : 1
}
