import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ConfigSchema } from '../../src/config/schema.ts'
import { ChartValues } from './chart-values.ts'

const root = join(import.meta.dirname, '../..')
const chart = 'deploy/helm/gatehouse'
const observability = 'deploy/observability'

/** The generated files of the Helm chart. A chart cannot contain files of other folders, so it has copies of the alerts and dashboards. */
export function chartFiles(): Record<string, () => string> {
  const originals = globSync([`${observability}/alerts.yaml`, `${observability}/dashboards/*.json`], { cwd: root })
  const copies = originals.sort().map((path) => {
    const copy = `${chart}/files/${relative(observability, path)}`
    return [copy, () => readFileSync(join(root, path), 'utf8')] as const
  })
  return { [`${chart}/values.schema.json`]: valuesSchema, ...Object.fromEntries(copies) }
}

type Node = {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly pattern?: string
  readonly minLength?: number
  readonly env?: string
  readonly envFile?: boolean
  readonly shorthand?: string
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
}

/** Keys of the configuration that other values of the chart set. */
const setByChart = [
  'secret',
  'secret_previous',
  'secret_next',
  'server.host',
  'server.port',
  'server.admin_port',
  'server.admin_host',
  'server.metrics_port',
  'server.metrics_host',
  'server.drain_delay_ms',
  'server.workers',
  'server.tls.cert_file',
  'server.tls.key_file',
  'server.tls.metrics',
  'storage.data_dir',
  'storage.database_url',
  'storage.redis_url',
  'setup',
]

/** Keys whose text is a secret. It would be stored in a ConfigMap, so only a reference is allowed. */
const secretKey = /(?:^|\.)(?:api_key|secret|client_secret|secret_access_key|session_token|reports_url)$/
const referencePattern = '^\\$\\{[^}]+\\}$'

/** The names of headers whose value must contain a reference, such as `Bearer ${TOKEN}`. Helm's patterns are case-sensitive. */
const secretHeaders: Readonly<Record<string, string>> = {
  'traces.headers': '.',
  'upstreams[].headers': ['authorization', 'cookie', 'key', 'token', 'secret']
    .map((word) => word.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`))
    .map((word) => `${word}$`)
    .join('|'),
}
const withReference = { type: 'string', pattern: '\\$\\{[^}]+\\}' }

function valuesSchema(): string {
  const config = inChart(JSON.parse(JSON.stringify(ConfigSchema)) as Node, '')
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart gatehouse; npm run generate writes this file',
    type: 'object',
    additionalProperties: false,
    properties: { ...ChartValues, config },
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** The schema of what is written in `config`: before defaults are added, and before references are replaced by their values. */
function inChart(node: Node, path: string): object {
  const { default: _default, env: _env, envFile: _envFile, shorthand, required = [], ...rest } = node
  if (secretKey.test(path)) return { type: 'string', pattern: referencePattern, description: rest.description }
  const headers = secretHeaders[path]
  if (headers !== undefined)
    return { ...rest, patternProperties: { ...rest.patternProperties, [headers]: withReference } }
  if (node.type === 'string') return writtenText(rest)
  if (node.items !== undefined) return { ...rest, items: inChart(node.items, `${path}[]`) }
  if (node.properties === undefined) return rest
  const properties = Object.entries(node.properties).flatMap(([key, child]) => {
    const inner = path === '' ? key : `${path}.${key}`
    return setByChart.includes(inner) ? [] : [[key, inChart(child, inner), child] as const]
  })
  const needed = properties.filter(([key, , child]) => required.includes(key) && child.default === undefined)
  const section = {
    ...rest,
    properties: Object.fromEntries(properties.map(([key, child]) => [key, child])),
    ...(needed.length > 0 && { required: needed.map(([key]) => key) }),
  }
  return shorthand === undefined ? section : { anyOf: [node.properties[shorthand] ?? {}, section] }
}

/** A text with a reference may be shorter than its value, and begins differently. */
const writtenText = ({ pattern, minLength, ...rest }: Node): object => ({
  ...rest,
  ...(minLength !== undefined && { minLength: 1 }),
  ...(pattern !== undefined && { pattern: `${pattern}|\\$\\{` }),
})
