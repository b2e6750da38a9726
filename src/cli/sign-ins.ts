import { apiPath } from '../app/client/api-client.ts'
import type { SignInBody } from '../http/admin/sign-ins/routes.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Work } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = { org: { type: 'string' }, json: { type: 'boolean' } } as const

export const signIns: Command = {
  summary: 'List the browsers that are signed in to the console, and sign one out',
  isRemote: true,
  usage: `gatehouse sign-ins list [--org ID] [--json]
gatehouse sign-ins end ID [--org ID] [--json]

--org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    return runOnServer(context, values, verbOf(verb, id))
  },
}

function verbOf(verb: string, id: string | undefined): Work {
  if (verb === 'list') return list
  if (verb === 'end') return end(required(id, 'The id of the sign-in'))
  throw unknownSubcommand('sign-ins', verb)
}

const list: Work = async ({ client }) => {
  const response = await client.list<SignInBody>('/v1/organization/sign_ins')
  const rows = response.data.map((row) => [
    row.id,
    row.actor.name,
    row.actor.id,
    row.address,
    dateOf(row.created_at),
    dateOf(row.last_seen_at),
  ])
  return { json: response, text: table(['ID', 'WHO', 'ACTS AS', 'ADDRESS', 'SIGNED IN', 'LAST SEEN'], rows) }
}

const end =
  (id: string): Work =>
  async ({ client }) => {
    const { body } = await client.request<{ id: string }>('DELETE', apiPath`/v1/organization/sign_ins/${id}`)
    return { json: body, text: `${body.id} has ended.` }
  }
