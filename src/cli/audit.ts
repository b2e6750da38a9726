import { apiPath } from '../app/client/api-client.ts'
import type { AuditEntryBody, CheckpointKeysBody } from '../http/admin/audit-logs/schema.ts'
import type { AuditEventsBody } from '../http/operator/audit-log-schema.ts'
import { isProven, verifyWith } from '../app/audit-verification.ts'
import { plural } from '../base/plural.ts'
import { readArguments, readCount, readPastTime, required } from './arguments.ts'
import { listArchive } from './audit-archive.ts'
import { describeVerification } from './audit-report.ts'
import { UsageError, unknownSubcommand, type Command, type CommandContext } from './command.ts'
import { openConnection, runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  file: { type: 'string' },
  against: { type: 'string' },
  archive: { type: 'string' },
  keys: { type: 'string' },
  'accept-late': { type: 'string' },
  request: { type: 'string' },
  kind: { type: 'string' },
  decision: { type: 'string' },
  policy: { type: 'string' },
  project: { type: 'string' },
  object: { type: 'string' },
  user: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  limit: { type: 'string' },
  'without-requests': { type: 'boolean' },
  'without-checkpoints': { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const audit: Command = {
  summary: 'List, verify and export the audit log and its archive, list its keys, erase texts',
  isRemote: true,
  usage: `gatehouse audit list [--kind KIND] [--without-requests] [--without-checkpoints] [--decision DECISION] [--policy ID] [--project ID] [--object ID] [--user ID] [--request ID] [--since TIME] [--until TIME] [--limit N] [--org ID] [--json]
gatehouse audit verify [--from N] [--to N] [--accept-late N] [--keys FILE] [--against FILE] [--org ID] [--json]
gatehouse audit verify --file FILE [--accept-late N] [--keys FILE] [--json]
gatehouse audit verify --archive FOLDER [--accept-late N] [--keys FILE] [--org ID] [--json]
gatehouse audit archive [--org ID] [--json]
gatehouse audit export [--from N] [--to N] [--org ID]
gatehouse audit proof [--since TIME] [--until TIME] [--org ID]
gatehouse audit keys [--json]
gatehouse audit erase --request ID [--org ID] [--json]

list prints the newest events, 20 unless --limit says otherwise; TIME is 2027-01-31, or 7d for a week ago.
--without-requests lists only changes by administrators and acts of the service, --without-checkpoints leaves out the
signatures of the log.
verify prints the first event that was changed, removed or moved, and exits with 1; it also exits with 1 if there was nothing
to check. It shows what is proven and by which key. Keys are derived from the server secret or, with --keys, read from a file
(as keys prints them, also with --json, or plain PEM). Keys in the database are compared and never trusted. --against
compares the log with the copies that sinks wrote, which shows what a holder of the secret changed or cut off. --file checks
exported events without the log; with --keys it needs nothing of the service. FILE is a file or a folder of files: events on
lines, plain or compressed, as export, S3 sinks and the archive write them, bodies of a webhook, or a proof. export prints events
as they were hashed. proof prints a page with the events of a period that verifies itself in a browser, without the service:
gatehouse audit proof --since 7d > proof.html. --archive checks the archive, or a copy of it: its signed manifests, each file,
that no event is missing between them, and that the log continues it. archive lists what was archived before the log removed it.
verify also exits with 1 if events were signed late, minutes after they were written: nothing proves that they were not changed
before. If you know why, for instance because no server ran after a crash, --accept-late N accepts this for events up to N.
keys prints the public keys, to pin them elsewhere. erase removes the texts of a request's prompt and response: its events
stay, and the log stays verifiable. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const verbs = {
      list: listEvents,
      verify,
      export: exportEvents,
      proof: printProof,
      archive: listArchive,
      keys: listKeys,
      erase,
    }
    const [verb = ''] = positionals
    if (!isVerb(verbs, verb)) throw unknownSubcommand('audit', verb)
    return verbs[verb](context, values)
  },
}

const isVerb = <V extends object>(verbs: V, verb: PropertyKey): verb is keyof V => Object.hasOwn(verbs, verb)

function listEvents(context: CommandContext, values: Values): Promise<number> {
  const limit = readCount(values.limit, '--limit') ?? 20
  return runOnServer(context, values, async ({ client, clock }) => {
    const query = {
      order: 'desc',
      kind: values.kind,
      without_requests: values['without-requests'] ? 'true' : undefined,
      without_checkpoints: values['without-checkpoints'] ? 'true' : undefined,
      decision: values.decision,
      policy_id: values.policy,
      project_id: values.project,
      resource_id: values.object,
      user_id: values.user,
      request_id: values.request,
      from: readPastTime(values.since, clock.nowMs()),
      to: readPastTime(values.until, clock.nowMs()),
    }
    const response = await client.list<AuditEntryBody>('/v1/organization/audit_logs', query, limit)
    const rows = response.data.map((event) => [
      String(event.sequence),
      dateOf(event.created_at),
      event.kind,
      event.decision ?? '-',
      event.id,
      event.message,
    ])
    return { json: response, text: table(['SEQUENCE', 'AT', 'KIND', 'DECISION', 'ID', 'MESSAGE'], rows) }
  })
}

async function verify(context: CommandContext, values: Values): Promise<number> {
  const { file, against, archive, keys } = values
  if (file !== undefined && against !== undefined) {
    throw new UsageError('--file checks exported events alone; --against compares the log with them. Choose one.')
  }
  if (archive !== undefined && [file, against, values.from, values.to].some((other) => other !== undefined)) {
    throw new UsageError(
      '--archive checks the whole archive. It is not combined with --file, --against, --from or --to.',
    )
  }
  const late = values['accept-late']
  const acceptLate = late === undefined ? undefined : sequenceOf(late)
  const input = { ...rangeOf(values), file, against, archive, keys, acceptLate }
  const verification = await verifyWith(() => openConnection(context, values), input)
  const { text, json } = describeVerification(verification)
  context.print(values.json ? JSON.stringify(json, null, 2) : text)
  return isProven(verification) ? 0 : 1
}

async function exportEvents(context: CommandContext, values: Values): Promise<number> {
  const { from = 1, to } = rangeOf(values)
  await using connection = await openConnection(context, values)
  const { client } = connection
  for (let after: number | null = from - 1; after !== null;) {
    const page: AuditEventsBody = await client.get('/operator/organization/audit_log/events', { after, to })
    if (page.lines.length > 0) context.printData(page.lines.join('\n'))
    after = page.last
  }
  return 0
}

async function printProof(context: CommandContext, values: Values): Promise<number> {
  await using connection = await openConnection(context, values)
  const { client, clock } = connection
  const period = { from: readPastTime(values.since, clock.nowMs()), to: readPastTime(values.until, clock.nowMs()) }
  context.printData((await client.getText('/v1/organization/audit_logs/proof', period)).trimEnd())
  return 0
}

function listKeys(context: CommandContext, values: Values): Promise<number> {
  return runOnServer(context, values, async ({ client, isRemote }) => {
    const path = isRemote ? '/v1/organization/audit_logs/keys' : '/operator/audit_log/keys'
    const response = await client.get<CheckpointKeysBody>(path)
    return { json: response, text: response.data.map(({ id, public_key: pem }) => `${id}\n${pem}`).join('\n') }
  })
}

function erase(context: CommandContext, values: Values): Promise<number> {
  const requestId = required(values.request, '--request')
  return runOnServer(context, values, async ({ client }) => {
    const path = apiPath`/operator/organization/audit_log/texts/${requestId}`
    const { body: response } = await client.request<{ erased: number }>('DELETE', path)
    return { json: response, text: `Erased ${plural(response.erased, 'text')}.` }
  })
}

function rangeOf({ from, to }: Values): { from?: number; to?: number } {
  const first = from === undefined ? undefined : sequenceOf(from)
  const last = to === undefined ? undefined : sequenceOf(to)
  if (first !== undefined && last !== undefined && first > last) throw new UsageError('--from is after --to.')
  return { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) }
}

function sequenceOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${text} is not the number of an event.`)
}
