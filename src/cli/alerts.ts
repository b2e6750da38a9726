import { stringify } from 'yaml'
import { apiPath, type ApiClient } from '../app/client/api-client.ts'
import { isRecord } from '../base/record.ts'
import type { AlertBody } from '../http/admin/alerts/alert-schema.ts'
import type { AlertChannelBody, ChannelTestBody } from '../http/admin/alerts/channel-schema.ts'
import type { AlertRuleBody } from '../http/admin/alerts/rule-schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, UsageError, type Command } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { dateOf, tableWithOwners, table } from './table.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  file: { type: 'string', short: 'f' },
  firing: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = { readonly client: ApiClient; readonly id: string; readonly values: Values }
type Verb = (call: Call) => Promise<Result>
type Resource = AlertChannelBody | AlertRuleBody

export const alertChannelsPath = '/v1/organization/alert_channels'
export const alertRulesPath = '/v1/organization/alert_rules'

/** Ids say what they are the id of. */
const pathOf = (id: string): string =>
  id.startsWith('chan_') ? apiPath`/v1/organization/alert_channels/${id}` : apiPath`/v1/organization/alert_rules/${id}`

export const alerts: Command = {
  summary: 'List alerts, and manage their channels and rules',
  isRemote: true,
  usage: `gatehouse alerts list [--firing] [--org ID] [--json]
gatehouse alerts channels|rules [--org ID] [--json]
gatehouse alerts show ID [--org ID] [--json]
gatehouse alerts create -f FILE [--org ID] [--json]
gatehouse alerts update ID -f FILE [--org ID] [--json]
gatehouse alerts pause|resume|delete ID [--org ID] [--json]
gatehouse alerts test ID [--org ID] [--json]

ID is that of a channel (chan_…) or of a rule (rule_…). FILE is YAML or JSON with a channel (kind, name and config) or with a
rule (kind, name, threshold and so on), as docs/guide/alerts.md describes them; --file is the same as -f. update changes the fields
that the file has. test sends a message by a channel and exits with 1 if the other side does not accept it; it needs a running
server. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', id = ''] = positionals
    const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!work) throw unknownSubcommand('alerts', verb)
    if (!['list', 'channels', 'rules', 'create'].includes(verb)) required(id, 'The id of the channel or rule')
    if (verb === 'create' || verb === 'update') required(values.file, '-f FILE')
    if (verb === 'test' && !id.startsWith('chan_')) throw new UsageError('Give the id of a channel: chan_….')
    return runOnServer(context, values, ({ client }) => work({ client, id, values }))
  },
}

const verbs: Readonly<Record<string, Verb>> = {
  async list({ client, values }) {
    const query = values.firing ? { state: 'firing' } : {}
    const response = await client.list<AlertBody>('/v1/organization/alerts', query)
    const rows = response.data.map((alert) => [
      alert.id,
      alert.ended_at === null ? 'firing' : 'resolved',
      dateOf(alert.started_at),
      alert.title,
      alert.deliveries.map(({ state }) => state).join(', '),
    ])
    return { json: response, text: table(['ID', 'STATE', 'SINCE', 'WHAT', 'MESSAGES'], rows) }
  },
  async channels({ client }) {
    const response = await client.list<AlertChannelBody>(alertChannelsPath)
    const rows = response.data.map((channel) => ({
      managed_by: channel.managed_by,
      cells: [
        channel.id,
        channel.kind,
        channel.name,
        channel.paused ? 'paused' : 'active',
        String(channel.waiting),
        channel.last_error ?? '',
      ],
    }))
    return { json: response, text: tableWithOwners(['ID', 'KIND', 'NAME', 'STATE', 'WAITING', 'LAST ERROR'], rows) }
  },
  async rules({ client }) {
    const response = await client.list<AlertRuleBody>(alertRulesPath)
    const rows = response.data.map((rule) => ({
      managed_by: rule.managed_by,
      cells: [rule.id, rule.kind, rule.name, rule.state, thresholdOf(rule), rule.channel_ids.join(' ')],
    }))
    return { json: response, text: tableWithOwners(['ID', 'KIND', 'NAME', 'STATE', 'THRESHOLD', 'CHANNELS'], rows) }
  },
  show: async ({ client, id }) => resultOf(await client.get<Resource>(pathOf(id))),
  async create({ client, values }) {
    const body = fileOf(values)
    return resultOf(await client.post<Resource>('config' in body ? alertChannelsPath : alertRulesPath, body))
  },
  update: (call) => change(call, fileOf(call.values)),
  pause: (call) => change(call, { paused: true }),
  resume: (call) => change(call, { paused: false }),
  async delete({ client, id }) {
    const { body: response } = await client.request('DELETE', pathOf(id))
    return { json: response, text: `${id} is deleted.` }
  },
  async test({ client, id }) {
    const response = await client.post<ChannelTestBody>(`${pathOf(id)}/test`)
    return { json: response, text: response.message, isFailed: !response.success }
  },
}

async function change({ client, id }: Call, body: object): Promise<Result> {
  return resultOf((await client.request<Resource>('PATCH', pathOf(id), { body })).body)
}

/** A channel or rule as a file; also in the form that `show --json` prints. */
function fileOf({ file = '' }: Values): Readonly<Record<string, unknown>> {
  const whole = readYamlFile(file)
  if (!isRecord(whole)) throw new Error(`${file}: there must be an alert channel or an alert rule.`)
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !readOnly.has(name)))
}

/** Fields of answers that no request has. */
const readOnly: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'updated_at',
  'last_sent_at',
  'last_error_at',
  'last_error',
  'waiting',
  'state',
  'firing',
  'managed_by',
])

const thresholdOf = ({ threshold, unit, window }: AlertRuleBody): string =>
  [threshold, unit, window].filter((part) => part !== null).join(' ')

const resultOf = (resource: Resource): Result => ({ json: resource, text: stringify(resource).trimEnd() })
