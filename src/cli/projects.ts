import { openOperations } from '../app/open.ts'
import type { Operations } from '../app/operations/operations.ts'
import { readArguments, required } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { dateOf, table } from './table.ts'

export const projects: Command = {
  summary: 'List, create and archive projects',
  usage: `gatehouse projects list [--org ID] [--json]
gatehouse projects create --name NAME [--org ID] [--json]
gatehouse projects archive ID [--org ID] [--json]

--org may be left out while there is only one organization. Archiving stops the project's keys.`,
  async run({ args, config, say }) {
    const options = { name: { type: 'string' }, org: { type: 'string' }, json: { type: 'boolean' } } as const
    const { values, positionals } = readArguments(args, options, 2)
    const [verb = 'list', id] = positionals
    const work = projectVerb(verb, {
      id,
      name: values.name,
      ...(values.org === undefined ? {} : { organization: values.org }),
    })
    await using house = await openOperations(config())
    const answer = await work(house.operations)
    const rows = Array.isArray(answer) ? answer : [answer]
    if (values.json) say(JSON.stringify(answer, null, 2))
    else
      say(
        table(
          ['ID', 'NAME', 'CREATED', 'ARCHIVED'],
          rows.map((row) => [row.id, row.name, dateOf(row.createdAtMs), dateOf(row.archivedAtMs)]),
        ),
      )
    return 0
  },
}

type Input = { id: string | undefined; name: string | undefined; organization?: string }

function projectVerb(verb: string, { id, name, ...where }: Input) {
  if (verb === 'list') return (operations: Operations) => operations['projects.list'](where)
  if (verb === 'create') {
    const given = required(name, '--name')
    return (operations: Operations) => operations['projects.create']({ ...where, name: given })
  }
  if (verb === 'archive') {
    const named = required(id, 'The id of the project')
    return (operations: Operations) => operations['projects.archive']({ ...where, id: named })
  }
  throw new UsageError(`There is no projects ${verb}.`)
}
