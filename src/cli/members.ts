import { apiPath, type ApiList } from '../app/client/api-client.ts'
import type { MemberBody } from '../http/admin/members/schema.ts'
import { readArguments, required } from './arguments.ts'
import { UsageError, unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Result, type Work } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  email: { type: 'string' },
  subject: { type: 'string' },
  name: { type: 'string' },
  role: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

const path = '/v1/organization/members'

export const members: Command = {
  summary: 'List, invite, change and remove members',
  isRemote: true,
  usage: `gatehouse members list [--org ID] [--json]
gatehouse members add (--email ADDRESS | --subject SUBJECT) --role ROLE [--name NAME] [--org ID] [--json]
gatehouse members update ID [--role ROLE] [--name NAME] [--org ID] [--json]
gatehouse members suspend|activate ID [--org ID] [--json]
gatehouse members remove ID [--org ID] [--json]

Members sign in to the console through the identity provider of console.oidc in gatehouse.yaml. Roles, from the highest:
owner, publisher, author, developer, billing, auditor, reviewer. A change takes effect at once, also in open sessions.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id] = positionals
    return runOnServer(context, values, verbOf(verb, id, values))
  },
}

function verbOf(verb: string, id: string | undefined, { email, subject, name, role }: Values): Work {
  if (verb === 'list') return async ({ client }) => resultOf(await client.list<MemberBody>(path))
  if (verb === 'add') {
    const body = { email, subject, name, role: required(role, '--role') }
    if ((email === undefined) === (subject === undefined)) throw new UsageError('Give either --email or --subject.')
    return async ({ client }) => resultOf(await client.post<MemberBody>(path, body))
  }
  if (verb === 'update') {
    if (name === undefined && role === undefined) throw new UsageError('There is nothing to change.')
    return change(id, { name, role })
  }
  if (verb === 'suspend') return change(id, { status: 'suspended' })
  if (verb === 'activate') return change(id, { status: 'active' })
  if (verb === 'remove') return remove(required(id, 'The id of the member'))
  throw unknownSubcommand('members', verb)
}

function change(id: string | undefined, body: Readonly<Record<string, string | undefined>>): Work {
  const memberId = required(id, 'The id of the member')
  return async ({ client }) => {
    const { body: member } = await client.request<MemberBody>('PATCH', apiPath`/v1/organization/members/${memberId}`, {
      body,
    })
    return resultOf(member)
  }
}

const remove =
  (id: string): Work =>
  async ({ client }) => {
    const { body } = await client.request<{ id: string }>('DELETE', apiPath`/v1/organization/members/${id}`)
    return { json: body, text: `${body.id} is removed, and its sessions have ended.` }
  }

function resultOf(response: MemberBody | ApiList<MemberBody>): Result {
  const rows = 'data' in response ? response.data : [response]
  const cells = rows.map((row) => [
    row.id,
    row.name ?? '',
    row.email ?? row.subject ?? '',
    row.role,
    row.role_source,
    row.status,
    dateOf(row.last_seen_at ?? undefined),
  ])
  return { json: response, text: table(['ID', 'NAME', 'EMAIL', 'ROLE', 'FROM', 'STATUS', 'LAST SEEN'], cells) }
}
