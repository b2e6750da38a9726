import { stringify } from 'yaml'
import { isRecord } from '../base/record.ts'
import type { ApiClient } from '../app/api-client.ts'
import type { ConfigurationBody } from '../app/api-types.ts'
import { readArguments, required } from './arguments.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { runOnServer, type Result } from './run-on-server.ts'
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
  usage: `gatehouse gateway show [--org ID] [--json]
gatehouse gateway apply FILE [--plan] [--yes] [--org ID] [--json]

show prints the configuration as YAML, which apply accepts. apply saves the configuration of a file: it shows the changes
and asks for confirmation. Fields that the file leaves out get their default.
--org may be left out while there is only one organization.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 2)
    const [verb = 'show', file] = positionals
    if (verb !== 'show' && verb !== 'apply') throw new UsageError(`There is no gateway ${verb}.`)
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

const configPath = '/api/policy-gateway/config'

async function show({ client }: Call): Promise<Result> {
  const response = await client.get<ConfigurationBody>(configPath)
  return { json: response, text: stringify(response.config).trimEnd() }
}

async function apply({ client, values, context }: Call, config: object): Promise<Result> {
  const current = await client.get<ConfigurationBody>(configPath)
  const target = await client.post<ConfigurationBody['config']>('/operator/gateway_config/check', config)
  const lines = gatewayDiffLines(current.config, target)
  const plan = lines.length === 0 ? 'Nothing changes.' : lines.join('\n')
  const planned = { version: current.version, changes: lines }
  if (values.plan || (lines.length === 0 && !current.rolled_back)) return { json: planned, text: plan }
  if (!values.yes) {
    context.printError(plan)
    if (!(await context.confirm('Save this configuration?')))
      return { json: planned, text: 'Nothing was changed. Confirm with --yes.', isFailed: true }
  }
  // If-Match prevents this save from overwriting another one that was made since the plan.
  const headers = { 'if-match': current.updated_at ?? 'null' }
  const { body: response } = await client.request<ConfigurationBody>('PUT', configPath, { body: { config }, headers })
  const warnings = response.warnings.map(({ message }) => `Warning: ${message}`)
  return { json: response, text: `${plan}\nSaved as version ${response.version}.`, warnings }
}

type Fields = ReadonlyMap<string, unknown>

/** The fields that differ, in the format of `diff`; of a list, the items that are added and removed. */
function gatewayDiffLines(before: object, after: object): string[] {
  const [old, next] = [new Map(fieldsOf(before)), new Map(fieldsOf(after))]
  return [...next.keys()].flatMap((field) => linesOf(field, old, next))
}

function linesOf(field: string, old: Fields, next: Fields): string[] {
  const [before, after] = [old.get(field), next.get(field)]
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (!Array.isArray(before) || !Array.isArray(after)) return [line('-', field, before), line('+', field, after)]
  const removed = before.filter((item) => !after.includes(item))
  const added = after.filter((item) => !before.includes(item))
  if (removed.length + added.length === 0) return [`~ ${field}: the order changed`]
  return [...removed.map((item) => line('-', field, item)), ...added.map((item) => line('+', field, item))]
}

const line = (sign: string, field: string, value: unknown): string =>
  `${sign} ${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`

/** The leaf fields of a configuration, by path. */
function fieldsOf(value: object, path = ''): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isRecord(inner) ? fieldsOf(inner, `${path}${name}.`) : [[`${path}${name}`, inner]],
  )
}
