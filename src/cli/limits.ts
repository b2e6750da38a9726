import type { LimitsBody } from '../http/admin/limits/schema.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { table } from './table.ts'

const options = {
  org: { type: 'string' },
  project: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
} as const

export const limits: Command = {
  summary: 'Show the limits and what is left of them',
  isRemote: true,
  usage: `gatehouse limits show [--project ID] [--key ID] [--org ID] [--json]

Shows the limits of the organization, and of a project and a key; without their ids, those of a project and a key that were
not used yet. It needs a running server, which counts. gatehouse orgs set-limits changes limits, gatehouse orgs set-plan the
plan that they follow from. --org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = 'show'] = positionals
    if (verb !== 'show') throw unknownSubcommand('limits', verb)
    return runOnServer(context, values, async ({ client }) => {
      const query = { project_id: values.project, api_key_id: values.key }
      const response = await client.get<LimitsBody>('/v1/organization/limits', query)
      return { json: response, text: describe(response) }
    })
  },
}

/** The names of the metrics, for people. */
const metricNames = {
  rpm: 'requests per minute',
  rpd: 'requests per day',
  tpm: 'tokens per minute',
  tpd: 'tokens per day',
  concurrent: 'concurrent requests',
} as const

function describe({ plan, tier, scopes }: LimitsBody): string {
  const rows = Object.entries(scopes).flatMap(([scope, metrics]) =>
    Object.entries(metricNames).map(([metric, name]) => {
      const window = metrics[metric as keyof typeof metricNames]
      return [scope, name, window === null ? 'none' : String(window.limit), String(window?.remaining ?? '-')]
    }),
  )
  return `plan ${plan}, tier ${tier}\n\n${table(['SCOPE', 'METRIC', 'LIMIT', 'LEFT'], rows)}`
}
