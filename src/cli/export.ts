import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { resourceFileSchema } from '../app/client/resource-files.ts'
import { plural } from '../base/plural.ts'
import { readRegularFile, writeRegularFile } from '../base/regular-file.ts'
import { readArguments } from './arguments.ts'
import { exportResources, filesOf, isExported, schemaFile, staleFiles, yamlOf } from './as-code/export.ts'
import { readState } from './as-code/state.ts'
import type { Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

const options = {
  output: { type: 'string', short: 'o' },
  owner: { type: 'string' },
  schema: { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const exportCommand: Command = {
  summary: 'Write the resources of an organization to files for plan and apply',
  isRemote: true,
  usage: `gatehouse export [-o FOLDER] [--owner NAME] [--org ID] [--json]
gatehouse export --schema

Without -o, prints one YAML document. With -o, which is the same as --output, writes one file for each kind of resource, and
their JSON Schema for editors; files of an earlier export are replaced or removed. Archived projects and expired or revoked keys are
left out. Secrets are never written: those of export sinks and upstreams become references to environment variables. --owner writes
only what this owner manages. --schema prints the JSON Schema. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values } = readArguments(context.args, options)
    if (values.schema) {
      context.printData(schemaText())
      return 0
    }
    return runOnServer(context, values, async ({ client, clock }) => {
      const state = await readState(client, clock.nowMs())
      const { file, warnings } = await exportResources(client, state, values.owner)
      const text = values.output === undefined ? yamlOf(file).trimEnd() : writeFolder(values.output, filesOf(file))
      return { json: file, text, isData: values.output === undefined, warnings }
    })
  },
}

const schemaText = (): string => JSON.stringify(resourceFileSchema(), null, 2)

function writeFolder(folder: string, files: ReadonlyMap<string, string>): string {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) writeRegularFile(join(folder, name), text)
  writeRegularFile(join(folder, schemaFile), `${schemaText()}\n`)
  return [
    ...removeStale(folder, files).map(
      (name) => `Removed ${name} of an earlier export, because nothing of this kind is left.`,
    ),
    `Wrote ${plural(files.size, 'file')} to ${folder}.`,
  ].join('\n')
}

/** Without this, apply would create again what was deleted since the earlier export. */
function removeStale(folder: string, files: ReadonlyMap<string, string>): string[] {
  const removed = staleFiles(files).filter((name) => {
    const path = join(folder, name)
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && isExported(readRegularFile(path))
  })
  for (const name of removed) rmSync(join(folder, name))
  return removed
}
