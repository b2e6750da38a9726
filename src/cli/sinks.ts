import { stringify } from 'yaml'
import { isRecord } from '../base/record.ts'
import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import type { DeadLetterBody, ExportBody, SinkTestBody } from '../http/policy-gateway/exports/schema.ts'
import { plural } from '../base/plural.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { table, tableWithOwners, timeOf } from './table.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  file: { type: 'string', short: 'f' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = { readonly client: ApiClient; readonly id: string; readonly values: Values }
type Verb = (call: Call) => Promise<Result>

const exportsPath = '/api/policy-gateway/exports'
const pathOf = (id: string): string => apiPath`/api/policy-gateway/exports/${id}`

export const sinks: Command = {
  summary: 'Create, test and inspect sinks of the audit log and of daily costs',
  isRemote: true,
  usage: `gatehouse sinks list [--org ID] [--json]
gatehouse sinks show ID [--org ID] [--json]
gatehouse sinks create -f FILE [--org ID] [--json]
gatehouse sinks update ID -f FILE [--org ID] [--json]
gatehouse sinks enable|disable|test|delete ID [--org ID] [--json]
gatehouse sinks dead-letters ID [--org ID] [--json]
gatehouse sinks replay ID [--org ID] [--json]

FILE is YAML or JSON with type, label, enabled and config, as docs/guide/exports.md describes them; --file is the same as -f.
update changes the fields that the file has. test sends one marked event, or a file to a sink of costs, and exits with 1 if the
destination does not accept it; it needs a running server. replay sends dead letters again. --org may be left out while there is
only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id = ''] = positionals
    const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!work) throw unknownSubcommand('sinks', verb)
    if (verb !== 'list' && verb !== 'create') required(id, 'The id of the sink')
    if (verb === 'create' || verb === 'update') required(values.file, '-f FILE')
    return runOnServer(context, values, ({ client }) => work({ client, id, values }))
  },
}

const verbs: Readonly<Record<string, Verb>> = {
  async list({ client }) {
    const response = await client.list<ExportBody>(exportsPath)
    const rows = response.data.map(({ id, type, label, health, ...sink }) => ({
      managed_by: sink.managed_by,
      cells: [
        id,
        type,
        label,
        health.state,
        String(health.backlog_events),
        String(health.dead_letters),
        timeOf(sink.last_success_at),
      ],
    }))
    const head = ['ID', 'TYPE', 'LABEL', 'STATE', 'BACKLOG', 'DEAD LETTERS', 'LAST SUCCESS']
    return { json: response, text: tableWithOwners(head, rows) }
  },
  show: async ({ client, id }) => sinkResult(await client.get<{ export: ExportBody }>(pathOf(id))),
  create: async ({ client, values }) =>
    sinkResult(await client.post<{ export: ExportBody }>(exportsPath, sinkFileOf(values))),
  update: (call) => change(call, sinkFileOf(call.values)),
  enable: (call) => change(call, { enabled: true }),
  disable: (call) => change(call, { enabled: false }),
  async test({ client, id }) {
    const response = await client.post<{ test: SinkTestBody }>(`${pathOf(id)}/test`)
    const { success, message, event_id: eventId } = response.test
    return { json: response, text: `${message} (${eventId})`, isFailed: !success }
  },
  async delete({ client, id }) {
    const { body: response } = await client.request('DELETE', pathOf(id))
    return { json: response, text: `${id} is deleted.` }
  },
  async 'dead-letters'({ client, id }) {
    const response = await client.list<DeadLetterBody>(`${pathOf(id)}/dead_letters`)
    const rows = response.data.map((letter) => [
      letter.id,
      String(letter.sequence),
      timeOf(letter.created_at),
      letter.replaying ? 'will be sent again' : letter.reason,
    ])
    return { json: response, text: table(['EVENT', 'SEQUENCE', 'AT', 'REASON'], rows) }
  },
  async replay({ client, id }) {
    const response = await client.post<{ replayed: number }>(`${pathOf(id)}/dead_letters/replay`, {})
    return { json: response, text: `${plural(response.replayed, 'event')} will be sent again.` }
  },
}

async function change({ client, id }: Call, body: object): Promise<Result> {
  return sinkResult((await client.request<{ export: ExportBody }>('PATCH', pathOf(id), { body })).body)
}

/** The sink that a file describes; also in the form that `show --json` prints. */
function sinkFileOf({ file = '' }: Values): object {
  const whole = readYamlFile(file)
  const sink = isRecord(whole) && isRecord(whole['export']) ? whole['export'] : whole
  if (!isRecord(sink)) throw new Error(`${file}: there must be a sink, with type and config.`)
  const { type, label, enabled, config, start } = sink
  return { type, label, enabled, config, start }
}

function progressOf({ backlog_events: backlog, dead_letters: deadLetters, cost_files: files }: ExportBody['health']) {
  if (files === null) return `${plural(backlog, 'event')} not sent yet, ${plural(deadLetters, 'dead letter')}`
  const last = files.last_day === null ? '' : `, the last of ${files.last_day}`
  const tags = files.last_day_without_tags === null ? '' : `, without tags last on ${files.last_day_without_tags}`
  return `costs of ${plural(files.days, 'day')} written${last}${tags}`
}

function sinkResult(response: { readonly export: ExportBody }): Result {
  const { id, type, label, config, health, last_error: lastError } = response.export
  const lines = [
    `${id}  ${type}${label === '' ? '' : `  ${label}`}`,
    `${health.state}, ${progressOf(health)}`,
    ...(lastError === null ? [] : [`last error: ${lastError}`]),
    '',
    stringify({ config }).trimEnd(),
  ]
  return { json: response, text: lines.join('\n') }
}
