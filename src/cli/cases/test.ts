import { once } from 'node:events'
import { statSync, watch, writeFileSync, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../base/fault.ts'
import { readArguments, required } from '../arguments.ts'
import { readResources } from '../as-code/files.ts'
import { UsageError, type CommandContext } from '../command.ts'
import { openConnection } from '../run-on-server.ts'
import { failedExitCode, hasFailedMust, reportJson, reportJunit, reportText } from './report.ts'
import { judgeChoices, runFileCases, type TestedSuite } from './run-file-cases.ts'

const options = {
  file: { type: 'string', short: 'f' },
  judge: { type: 'string' },
  junit: { type: 'string' },
  watch: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

/** `gatehouse policies test`: runs the cases of files. Needs no server for expressions, phrases and the gateway configuration. */
export async function testPolicies(context: CommandContext): Promise<number> {
  const { values } = readArguments(context.args.slice(1), options)
  const path = required(values.file, '-f FOLDER|FILE')
  const { judge = 'skip' } = values
  const choice = judgeChoices.find((each) => each === judge)
  if (choice === undefined) throw new UsageError(`--judge must be ${judgeChoices.join(', ')}.`)
  const run = (): Promise<number> => testOnce(context, values, { path, choice })
  return values.watch ? await watchFiles(context, path, run) : await run()
}

type Asked = { readonly path: string; readonly choice: (typeof judgeChoices)[number] }

async function testOnce(context: CommandContext, values: Values, { path, choice }: Asked): Promise<number> {
  const tested = await testedWith(context, values, { path, choice })
  if (values.junit !== undefined) writeFileSync(values.junit, reportJunit(tested))
  if (tested.length === 0) context.printError('These files have no cases.')
  if (values.json) context.printData(JSON.stringify(reportJson(tested), null, 2))
  else context.print(reportText(tested))
  return hasFailedMust(tested) ? failedExitCode : 0
}

async function testedWith(
  context: CommandContext,
  values: Values,
  { path, choice }: Asked,
): Promise<readonly TestedSuite[]> {
  const resources = readResources(path)
  if (choice !== 'ask') return runFileCases(resources, { judge: choice })
  await using connection = await openConnection(context, values)
  return await runFileCases(resources, { judge: 'ask', client: connection.client })
}

/** Runs again after each change, until the command is interrupted. A mistake in a file is printed and awaited. */
async function watchFiles(context: CommandContext, path: string, run: () => Promise<number>): Promise<number> {
  // The folder also of a single file, because editors replace a file by a new one.
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return await run() // which says that there is none
  const isFolder = stats.isDirectory()
  const watcher = watch(isFolder ? path : dirname(path), { recursive: isFolder })
  try {
    for (;;) {
      await run().catch((error: unknown) => context.printError(messageOf(error)))
      context.printError('Waiting for a change.')
      await changeOfYaml(watcher)
      await new Promise((resolve) => setTimeout(resolve, 100)) // editors write a file in several steps
    }
  } finally {
    watcher.close()
  }
}

/** Other files do not matter, above all the verdicts that a run writes beside the policies. */
async function changeOfYaml(watcher: FSWatcher): Promise<void> {
  for (;;) {
    const [, name]: unknown[] = await once(watcher, 'change')
    if (/\.ya?ml$/.test(String(name))) return
  }
}
