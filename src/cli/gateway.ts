import { stringify } from 'yaml'
import { isRecord } from '../base/record.ts'
import type { ApiClient } from '../app/client/api-client.ts'
import type { ConfigurationBody } from '../http/policy-gateway/config/schema.ts'
import { readArguments, required } from './arguments.ts'
import { unknownSubcommand, type Command, type CommandContext } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
import { leafDifferences, leafDiffLines } from './leaf-diff.ts'
import type { FieldDifference } from './policies/diff.ts'
import { readYamlFile } from './yaml-file.ts'

const options = {
  org: { type: 'string' },
  plan: { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']
type Call = { readonly client: ApiClient; readonly values: Values; readonly context: CommandContext }

export const gateway: Command = {
  summary: 'Show and change the gateway configuration',
  isRemote: true,
  usage: `gatehouse gateway show [--org ID] [--json]
gatehouse gateway apply FILE [--plan] [--yes] [--org ID] [--json]

show prints the configuration as YAML, which apply accepts. apply saves the configuration of a file: it shows the changes
and asks for confirmation. Fields that the file leaves out get their default.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'show', file] = positionals
    if (verb !== 'show' && verb !== 'apply') throw unknownSubcommand('gateway', verb)
    const config = verb === 'apply' ? readConfiguration(required(file, 'FILE')) : undefined
    return runOnServer(context, values, ({ client }) => {
      const call = { client, values, context }
      return config ? apply(call, config) : show(call)
    })
  },
}

/** A configuration as `show` prints it, or as the API returns it. */
function readConfiguration(file: string): Record<string, unknown> {
  const whole = readYamlFile(file)
  if (!isRecord(whole)) throw new Error(`${file}: there must be a configuration.`)
  const { config } = whole
  return isRecord(config) ? config : whole
}

export const configPath = '/api/policy-gateway/config'

async function show({ client }: Call): Promise<Result> {
  const response = await client.get<ConfigurationBody>(configPath)
  return { json: response, text: stringify(response.config).trimEnd(), isData: true }
}

async function apply({ client, values, context }: Call, config: object): Promise<Result> {
  const { current, differences } = await planGateway(client, config)
  const plan = differences.length === 0 ? 'Nothing changes.' : leafDiffLines(differences).join('\n')
  const planned = { version: current.version, changes: leafDiffLines(differences) }
  if (values.plan || (differences.length === 0 && !current.rolled_back)) return { json: planned, text: plan }
  if (!values.yes) {
    context.printError(plan)
    if (!(await context.confirm('Save this configuration?')))
      return { json: planned, text: 'Nothing was changed. Confirm with --yes.', isFailed: true }
  }
  const response = await saveGateway(client, { current, config })
  return {
    json: response,
    text: `${plan}\nSaved as version ${response.version}.`,
    warnings: gatewayWarnings(response),
  }
}

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
