import { faultCodes } from '../../base/fault.ts'
import type { EndpointFamily, Route } from '../route.ts'

/** The reference at `/docs`, generated from the routes. It has no scripts and loads nothing from other hosts. */
export function docsRoutes(families: () => readonly EndpointFamily[]): Route[] {
  const html = (body: () => string): Route['handle'] => {
    let cached: string | undefined // rendered once, because the page needs no credential
    return async (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        .send((cached ??= body()))
  }
  const answers = { 200: { description: 'A page.', contentType: 'text/html' } }
  return [
    {
      name: 'getDocs',
      method: 'GET',
      path: '/docs',
      summary: 'The API reference as a page',
      credential: 'none',
      answers,
      handle: html(() => reference(families())),
    },
    {
      name: 'getErrorCodes',
      method: 'GET',
      path: '/docs/errors',
      summary: 'Every error code',
      credential: 'none',
      answers,
      handle: html(errorCodes),
    },
  ]
}

function errorCodes(): string {
  const rows = Object.entries(faultCodes).map(
    ([code, sentence]) => `<tr id="${code}"><td><code>${code}</code></td><td>${inline(sentence)}</td></tr>`,
  )
  return page(
    'Error codes',
    `<p><a href="/docs">Reference</a></p><h1>Error codes</h1><table><tr><th>Code</th><th>Meaning</th></tr>${rows.join('')}</table>`,
  )
}

function reference(families: readonly EndpointFamily[]): string {
  const sections = families.filter(({ routes }) => routes.length > 0).map(section)
  const intro =
    '<h1>Gatehouse</h1><p>Machine-readable: <a href="/openapi.json">openapi.json</a>. Error codes: <a href="/docs/errors">errors</a>. Fields marked * are required in requests, and always present in responses.</p>'
  return page('Reference', intro + sections.join(''))
}

const section = ({ name, routes }: EndpointFamily): string =>
  `<h2>${escape(name)}</h2>${routes.map(operation).join('')}`

function operation(route: Route): string {
  const details = [
    route.description === undefined ? '' : `<p>${inline(route.description)}</p>`,
    `<p class="note">${credentialWords[route.credential]}</p>`,
    fields('Path', route.params),
    fields('Query', route.query),
    fields('Headers', route.headers),
    fields('Body', route.body),
    ...Object.entries(route.answers).map(
      ([status, answer]) => `<p><b>${status}</b> ${inline(answer.description)}</p>${fields('', answer.schema)}`,
    ),
    route.errorStatuses === undefined ? '' : `<p class="note">Errors: ${route.errorStatuses.join(', ')}</p>`,
  ]
  return `<details><summary><code>${route.method} ${escape(route.path)}</code> ${escape(route.summary)}</summary>${details.join('')}</details>`
}

const credentialWords: Readonly<Record<Route['credential'], string>> = {
  none: 'No credential.',
  api_key: 'Credential: a project API key or a token.',
  api_key_or_free: 'Credential: a project API key or a token, or none with <code>X-Free-Tier: true</code>.',
  admin_key: 'Credential: an administrator key.',
  gateway: 'Credential: a project API key, a token, or an administrator key.',
  operator: 'On the control socket only.',
}

type SchemaNode = {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
} & Bounds

function fields(title: string, schema: SchemaNode | undefined): string {
  const rows = schema === undefined ? [] : rowsOf(schema, '', maxLevels)
  if (rows.length === 0) return ''
  return `${title === '' ? '' : `<h4>${title}</h4>`}<table>${rows.join('')}</table>`
}

/** Nesting depth of the tables. */
const maxLevels = 4

/** A row for each field, followed by the rows of its own fields. */
function rowsOf(schema: SchemaNode, prefix: string, levels: number): string[] {
  if (levels === 0) return []
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const mark = schema.required?.includes(name) && field.default === undefined ? ' *' : ''
    const words = [typeWords(field), ...boundWords(field)].join(', ')
    const cells = [`<code>${escape(prefix + name)}</code>${mark}`, escape(words), inline(field.description ?? '')]
    const { node, path } = within(field, prefix + name)
    return [`<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`, ...rowsOf(node, `${path}.`, levels - 1)]
  })
}

/** The object type of a field: an object, a list of objects, or either of them or null. */
function within(field: SchemaNode, path: string): { readonly node: SchemaNode; readonly path: string } {
  const [only, ...others] = field.anyOf?.filter(({ type }) => type !== 'null') ?? [field]
  if (only === undefined || others.length > 0) return { node: {}, path }
  return only.items === undefined ? { node: only, path } : within(only.items, `${path}[]`)
}

function typeWords(node: SchemaNode): string {
  if (node.enum) return node.enum.map(String).join(' | ')
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (node.anyOf) return [...new Set(node.anyOf.map(typeWords))].join(' | ')
  if (node.type === 'array') return `array of ${node.items ? typeWords(node.items) : 'anything'}`
  return node.type ?? 'anything'
}

/** Backticks become code; everything else is text. */
const inline = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** The JSON Schema keywords that limit a value. */
type Bounds = {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: unknown
  readonly anyOf?: readonly Bounds[]
}

/** The limits and the default of a value as text: `1 to 80 characters`, `default 20`. */
function boundWords({ anyOf = [], ...own }: Bounds): string[] {
  const words = [
    range(own.minimum, own.maximum, ''),
    range(own.minLength, own.maxLength, ' characters'),
    range(own.minItems, own.maxItems, ''),
    ...anyOf.flatMap(boundWords),
    own.default === undefined ? '' : `default ${JSON.stringify(own.default)}`,
  ]
  return words.filter((word) => word !== '')
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`
  if (to !== undefined) return `up to ${to}${unit}`
  return from === undefined ? '' : `from ${from}${unit}`
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2024; background: #fff }
h1 { font-size: 1.6rem } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d9dde3 } h4 { margin: 1rem 0 .25rem }
code { font: 13px ui-monospace, monospace; background: #f2f4f7; padding: .1em .3em; border-radius: 3px }
table { border-collapse: collapse; width: 100%; margin: .25rem 0 1rem } td, th { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid #eceff3 }
details { margin: .5rem 0; padding: .5rem .75rem; border: 1px solid #d9dde3; border-radius: 6px } summary { cursor: pointer }
tr:target { background: #fff6d6 } .note { color: #5b6570 }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #16181b } code { background: #24272c } td, th, h2, details { border-color: #33373d } tr:target { background: #3a3420 } a { color: #8ab4ff } .note { color: #a0a8b0 } }`

/** An HTML page without external resources. */
const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)} · Gatehouse</title><style>${style}</style></head><body>${body}</body></html>`

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
