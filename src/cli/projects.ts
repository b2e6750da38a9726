import type { ShownProject } from '../app/operations/registry.ts'
import { inOrganization, readArguments, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer, type Result, type Work } from './run-command.ts'
import { dateOf, table } from './table.ts'

const options = { name: { type: 'string' }, org: { type: 'string' }, json: { type: 'boolean' } } as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const projects: Command = {
  summary: 'List, create and archive projects',
  usage: `gatehouse projects list [--org ID] [--json]
gatehouse projects create --name NAME [--org ID] [--json]
gatehouse projects archive ID [--org ID] [--json]

--org may be left out while there is only one organization. Archiving stops the project's keys.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    return runOnServer(context, values, verbOf(verb, id, values))
  },
}

function verbOf(verb: string, id: string | undefined, values: Values): Work {
  const where = inOrganization(values)
  if (verb === 'list') return async ({ operations }) => shown(await operations['projects.list'](where))
  if (verb === 'create') {
    const name = required(values.name, '--name')
    return async ({ operations }) => shown(await operations['projects.create']({ ...where, name }))
  }
  if (verb === 'archive') {
    const named = required(id, 'The id of the project')
    return async ({ operations }) => shown(await operations['projects.archive']({ ...where, id: named }))
  }
  throw new UsageError(`There is no projects ${verb}.`)
}

function shown(answer: ShownProject | readonly ShownProject[]): Result {
  const rows = 'id' in answer ? [answer] : answer
  const cells = rows.map((row) => [row.id, row.name, dateOf(row.created_at), dateOf(row.archived_at)])
  return { answer, text: table(['ID', 'NAME', 'CREATED', 'ARCHIVED'], cells) }
}
