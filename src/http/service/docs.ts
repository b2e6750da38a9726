import { faultCodes } from '../../base/fault.ts'
import type { EndpointFamily, Route } from '../route.ts'
import { boundWords, type Bounds } from './bounds.ts'
import { page, escape } from './page.ts'

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
      method: 'GET',
      path: '/docs',
      summary: 'The API reference as a page',
      credential: 'none',
      answers,
      handle: html(() => reference(families())),
    },
    {
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
