import { ConfigSchema } from '../../src/config/schema.ts'

type Node = {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly env?: string
  readonly envFile?: boolean
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
}

/** The configuration reference: one table per section, in the order of the schema. */
export function configurationPage(): string {
  const root: Node = JSON.parse(JSON.stringify(ConfigSchema))
  const plain = Object.entries(root.properties ?? {}).filter(([, node]) => sectionOf(node) === undefined)
  const sections = Object.entries(root.properties ?? {}).flatMap(([name, node]) => sectionPages(name, node))
  return `# Configuration

Gatehouse reads \`gatehouse.yaml\` in the working directory, or the file that \`GATEHOUSE_CONFIG\` names, then the environment, which wins.
Every key is optional; an unknown key is an error that names the nearest known one. \`\${NAME}\` in any text inserts the variable NAME,
\`\${file:/path}\` the content of a file. [Secrets](guide/secrets.md#secrets-from-files) lists the files that are read again while the service runs.
This page is generated from the schema with \`npm run generate\`.

## Top level

${tableOf(plain, root)}
${sections.join('\n')}
## Automatic upstreams

Upstreams are configured automatically from the environment variables of the vendors' own tools: \`OPENAI_API_KEY\` (and \`OPENAI_BASE_URL\`), \`ANTHROPIC_API_KEY\` (and
\`ANTHROPIC_BASE_URL\`), \`OLLAMA_HOST\`. With none of them and no upstream configured, the built-in \`echo\` upstream serves the model
\`gatehouse-echo\`.
`
}

/** The schema of a section or of the entries of a list. Undefined for a plain value. */
const sectionOf = (node: Node): Node | undefined =>
  node.properties ? node : node.items?.properties ? node.items : undefined

function sectionPages(name: string, node: Node): string[] {
  const section = sectionOf(node)
  if (section?.properties === undefined) return []
  const title = node.items ? `${name}[]` : name
  const inner = groupEqual(section.properties).flatMap(([key, child]) => sectionPages(`${title}.${key}`, child))
  const rows = Object.entries(section.properties).filter(([, child]) => sectionOf(child) === undefined)
  const table = rows.length === 0 ? '' : `\n${tableOf(rows, section)}`
  return [`## \`${title}\`\n\n${node.description ?? ''}\n${table}`, ...inner]
}

/** Groups keys with the same schema under one heading: `free|tier_1|tier_2`. */
function groupEqual(properties: Readonly<Record<string, Node>>): (readonly [string, Node])[] {
  const groups = Map.groupBy(Object.entries(properties), ([, node]) => JSON.stringify(node))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    return first === undefined ? [] : [[group.map(([key]) => key).join('|'), first[1]] as const]
  })
}

function tableOf(rows: readonly (readonly [string, Node])[], parent: Node): string {
  const lines = rows.map(
    ([name, node]) =>
      `| \`${name}\` | ${typeOf(node)} | ${defaultOf(name, node, parent)} | ${variablesOf(node)} | ${node.description ?? ''} |`,
  )
  return `| Key | Type | Default | Environment | Meaning |\n|---|---|---|---|---|\n${lines.join('\n')}\n`
}

const variablesOf = ({ env, envFile }: Node): string =>
  env === undefined ? '' : envFile ? `\`${env}\`, or \`${env}_FILE\` that names a file` : `\`${env}\``

/** A number or a word, such as `auto`, has two types and the word as its pattern. */
function typeOf(node: Node): string {
  if (node.enum) return node.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (node.type === 'array') return `list of ${node.items ? typeOf(node.items) : 'anything'}`
  const bounds =
    node.maximum === undefined
      ? node.minimum === undefined
        ? ''
        : ` from ${node.minimum}`
      : ` ${node.minimum ?? 0} to ${node.maximum}`
  if (typeof node.type === 'object') return `integer${bounds}, or \`${node.pattern?.slice(1, -1) ?? 'a text'}\``
  return `${node.type ?? 'text'}${bounds}`
}

function defaultOf(name: string, node: Node, parent: Node): string {
  if (node.default !== undefined) return `\`${JSON.stringify(node.default)}\``
  return parent.required?.includes(name) ? 'required' : ''
}
