import { stringify } from 'yaml'
import type { ApiClient } from '../app/client/api-client.ts'
import type { ConfigurationBody } from '../http/policy-gateway/config/schema.ts'
import { readArguments } from './arguments.ts'
import { movedToApply, unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { leafDifferences } from './leaf-diff.ts'
import type { FieldDifference } from './policies/diff.ts'

const options = { org: { type: 'string' }, json: { type: 'boolean' } } as const

export const gateway: Command = {
  summary: 'Show the gateway configuration',
  isRemote: true,
  usage: `gatehouse gateway show [--org ID] [--json]

Prints the configuration as YAML. Change it in a file and save it with gatehouse apply -f FILE.
--org may be left out while there is only one organization.`,
  async run(context) {
    if (context.args[0] === 'apply') throw movedToApply('gateway')
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'show'] = positionals
    if (verb !== 'show') throw unknownSubcommand('gateway', verb)
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.get<ConfigurationBody>(configPath)
      return { json: response, text: stringify({ gateway: response.config }).trimEnd(), isData: true }
    })
  },
}

export const configPath = '/api/policy-gateway/config'

type GatewayPlan = { readonly current: ConfigurationBody; readonly differences: readonly FieldDifference[] }

/** Compares a configuration, which gets its defaults, with the saved one. Saves nothing. */
export async function planGateway(client: ApiClient, config: object): Promise<GatewayPlan> {
  const current = await client.get<ConfigurationBody>(configPath)
  const target = await client.post<ConfigurationBody['config']>(`${configPath}/preview`, config)
  return { current, differences: leafDifferences(current.config, target) }
}

/** If-Match prevents this save from overwriting another one that was made since the plan. */
export async function saveGateway(
  client: ApiClient,
  { current, config }: { readonly current: ConfigurationBody; readonly config: object },
): Promise<ConfigurationBody> {
  const headers = { 'if-match': current.updated_at ?? 'null' }
  return (await client.request<ConfigurationBody>('PUT', configPath, { body: { config }, headers })).body
}

export const gatewayWarnings = ({ warnings }: ConfigurationBody): string[] =>
  warnings.map(({ message }) => `Warning: ${message}`)
