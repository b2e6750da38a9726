import { apiPath } from '../app/client/api-client.ts'
import type { ProbeBody, UpstreamsBody } from '../http/admin/upstreams/schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { entryWork, isEntryVerb } from './entry-verbs.ts'
import { runOnServer, type Work } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

const options = {
  org: { type: 'string' },
  file: { type: 'string', short: 'f' },
  json: { type: 'boolean' },
} as const

export const upstreams: Command = {
  summary: 'List, call, add, change and pause upstreams',
  isRemote: true,
  usage: `gatehouse upstreams list [--org ID] [--json]
gatehouse upstreams probe NAME [--org ID] [--json]
gatehouse upstreams create -f FILE [--org ID] [--json]
gatehouse upstreams update NAME -f FILE [--org ID] [--json]
gatehouse upstreams show|pause|resume|delete NAME [--org ID] [--json]

list shows what the running server saw of each upstream since it started. probe sends a real request for one token, and exits
with 1 if the upstream does not answer. FILE is YAML or JSON with the fields of an upstream in the configuration file; \${NAME}
and \${file:PATH} in api_key and headers are replaced by this command. --file is the same as -f. update changes the fields that
the file has. Upstreams of the configuration can only be changed there. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'list', name] = positionals
    const { file } = values
    const work = isEntryVerb(verb)
      ? entryWork(verb, { what: 'upstream', name, file, env: context.env })
      : verbOf(verb, name)
    return runOnServer(context, values, work)
  },
}

function verbOf(verb: string, name: string | undefined): Work {
  if (verb === 'list')
    return async ({ client }) => {
      const response = await client.get<UpstreamsBody>('/v1/organization/upstreams')
      return { json: response, text: describe(response) }
    }
  if (verb === 'probe') {
    const upstream = required(name, 'The name of the upstream')
    return async ({ client }) => {
      const probe = await client.post<ProbeBody>(apiPath`/v1/organization/upstreams/${upstream}/probe`)
      return { json: probe, text: describeProbe(probe), isFailed: !probe.success }
    }
  }
  throw unknownSubcommand('upstreams', verb)
}

function describe({ data }: UpstreamsBody): string {
  const rows = data.map((upstream) => [
    upstream.name,
    upstream.kind,
    upstream.paused ? 'paused' : upstream.state,
    String(upstream.failures),
    `${upstream.in_flight} of ${upstream.max_concurrent}`,
    String(upstream.p95_ms ?? '-'),
    dateOf(upstream.last_success_at),
    upstream.last_error === null ? '-' : `${upstream.last_error.code} ${dateOf(upstream.last_error.at)}`,
  ])
  return table(['UPSTREAM', 'KIND', 'STATE', 'FAILURES', 'IN FLIGHT', 'P95 MS', 'LAST SUCCESS', 'LAST ERROR'], rows)
}

const describeProbe = ({ upstream, model, ms, error }: ProbeBody): string =>
  error === null
    ? `${upstream} answered in ${ms} ms (model ${model})`
    : `${upstream} did not answer after ${ms} ms: ${error.code}: ${error.message}`
