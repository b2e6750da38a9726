import { stringify } from 'yaml'
import { ApiError, type ApiClient } from '../app/client/api-client.ts'
import type { GatewayRunBody } from '../http/policy-gateway/config/gate-schema.ts'
import type { ConfigurationBody } from '../http/policy-gateway/config/schema.ts'
import { readArguments } from './arguments.ts'
import { movedToApply, unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { leafDifferences } from './leaf-diff.ts'
import { awaitRun } from './policies/await-gate-run.ts'
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

type GatewaySave = {
  readonly current: ConfigurationBody
  readonly config: object
  /** Why it is saved past the publish gate. */
  readonly override: string | undefined
}

/**
 * If-Match prevents this save from overwriting another one that was made since the plan. If the publish gate requires a run and
 * there is none of this configuration, it runs the gate first.
 */
export async function saveGateway(
  client: ApiClient,
  { current, config, override }: GatewaySave,
): Promise<ConfigurationBody> {
  const headers = { 'if-match': current.updated_at ?? 'null' }
  const save = async (run?: string): Promise<ConfigurationBody> => {
    const body = {
      config,
      ...(run !== undefined && { gate_run: run }),
      ...(override !== undefined && { override: { reason: override } }),
    }
    return (await client.request<ConfigurationBody>('PUT', configPath, { body, headers })).body
  }
  try {
    return await save()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'gate_not_passed') throw error
    const [latest] = (await client.list<GatewayRunBody>(`${configPath}/gate`, {}, 1)).data
    if (latest !== undefined && error.message.includes(latest.id)) throw error
    const started = await client.post<GatewayRunBody>(`${configPath}/gate`, { config })
    const run = await awaitRun(started, () => client.get<GatewayRunBody>(`${configPath}/gate/${started.id}`))
    return save(run.id)
  }
}

export const gatewayWarnings = ({ warnings }: ConfigurationBody): string[] =>
  warnings.map(({ message }) => `Warning: ${message}`)
