import { apiPath, type ApiList } from '../app/client/api-client.ts'
import type { ProjectBody } from '../http/admin/projects/schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Result, type Work } from './run-on-server.ts'
import { dateOf, tableWithOwners } from './table.ts'

const options = { name: { type: 'string' }, org: { type: 'string' }, json: { type: 'boolean' } } as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

const path = '/v1/organization/projects'

export const projects: Command = {
  summary: 'List, create, archive and unarchive projects',
  isRemote: true,
  usage: `gatehouse projects list [--org ID] [--json]
gatehouse projects create --name NAME [--org ID] [--json]
gatehouse projects archive|unarchive ID [--org ID] [--json]

--org may be left out while there is only one organization. The keys of an archived project stop working until it is
unarchived.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    return runOnServer(context, values, verbOf(verb, id, values))
  },
}

function verbOf(verb: string, id: string | undefined, values: Values): Work {
  if (verb === 'list') return async ({ client }) => resultOf(await client.list<ProjectBody>(path))
  if (verb === 'create') {
    const name = required(values.name, '--name')
    return async ({ client }) => resultOf(await client.post<ProjectBody>(path, { name }))
  }
  if (verb === 'archive' || verb === 'unarchive') {
    const projectId = required(id, 'The id of the project')
    return async ({ client }) =>
      resultOf(await client.post<ProjectBody>(apiPath`/v1/organization/projects/${projectId}/${verb}`))
  }
  throw unknownSubcommand('projects', verb)
}

function resultOf(response: ProjectBody | ApiList<ProjectBody>): Result {
  const rows = 'data' in response ? response.data : [response]
  const owned = rows.map((row) => ({
    cells: [row.id, row.name, dateOf(row.created_at), dateOf(row.archived_at)],
    managed_by: row.managed_by,
  }))
  return { json: response, text: tableWithOwners(['ID', 'NAME', 'CREATED', 'ARCHIVED'], owned) }
}
