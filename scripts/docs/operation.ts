import type { Credential, Route } from '../../src/http/route.ts'
import { codeBlock, codeTabs } from './code.ts'
import { exampleOf } from './example.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { anchorLink, inline } from './html.ts'
import { literal, notations } from './literal.ts'
import { fieldList } from './schema-fields.ts'
import { snippetsOf } from './snippets.ts'

/** One endpoint: what it does and takes on the left, the example on the right. */
export function operation(route: Route): string {
  const { name, method, path, summary, description } = route
  return `<section class="operation" id="${name}" aria-labelledby="${name}-title">
<div class="about">
<h3 id="${name}-title">${inline(summary)} ${anchorLink(name, summary)}</h3>
<p class="route"><span class="method method-${method.toLowerCase()}">${method}</span> <code>${pathHtml(path)}</code></p>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
${facts(route)}
${requestFields(route)}
${answers(route)}
${errors(route)}
</div>
<div class="example">${example(route)}</div>
</section>`
}

const pathHtml = (path: string): string =>
  escapeHtml(path)
    .replaceAll('/', '/<wbr>')
    .replace(/\{\w+\}/g, (parameter) => `<span class="parameter">${parameter}</span>`)

const credentialWords: Readonly<Record<Credential, string>> = {
  none: 'None',
  api_key: 'A project API key or a token',
  api_key_or_free: 'A project API key or a token; or none, with `X-Free-Tier: true`',
  admin_key: 'An administrator key',
  gateway: 'A project API key, a token or an administrator key',
  operator: 'The control socket only',
}

const kib = 1024

function facts({ credential, permission, bodyLimitBytes, body }: Route): string {
  const isLarge = bodyLimitBytes !== undefined && bodyLimitBytes >= kib * kib
  const size = isLarge ? `${bodyLimitBytes / kib / kib} MiB` : `${(bodyLimitBytes ?? 0) / kib} KiB`
  const rows = [
    ['Credential', inline(credentialWords[credential])],
    ...(permission === undefined ? [] : [['Permission', `<code>${permission}</code>`]]),
    ...(body === undefined || bodyLimitBytes === undefined ? [] : [['Body', `Up to ${size}`]]),
  ]
  return `<dl class="facts">${rows.map(([term, words]) => `<div><dt>${term}</dt><dd>${words}</dd></div>`).join('')}</dl>`
}

function requestFields({ name, params, query, headers, body }: Route): string {
  const parts = [
    ['Path', 'path', params],
    ['Query', 'query', query],
    ['Body', 'body', body],
    ['Headers', 'header', headers],
  ] as const
  return parts
    .map(([title, id, schema]) => {
      const fields = fieldList(schema, { id: `${name}.${id}`, in: 'request' })
      return fields === '' ? '' : `<h4>${title}</h4>${fields}`
    })
    .join('')
}

function answers({ name, answers: all }: Route): string {
  return Object.entries(all)
    .map(([status, { description, schema, event, contentType, headers = [] }]) => {
      const fields = fieldList(schema, { id: `${name}.${status}`, in: 'answer' })
      const events = fieldList(event, { id: `${name}.event`, in: 'answer' })
      const type = contentType === undefined ? '' : ` <span class="type">${escapeHtml(contentType)}</span>`
      const carried = headers.map((header) => `<code>${header}</code>`).join(', ')
      const note = carried === '' ? '' : `<p class="note">May carry ${carried}.</p>`
      const inner = folded('Fields of the answer', fields) + folded('Events of the stream', events)
      return `<h4>Answer <span class="status">${status}</span>${type}</h4><p>${inline(description)}</p>${note}${inner}`
    })
    .join('')
}

const folded = (title: string, fields: string): string =>
  fields === '' ? '' : `<details class="inner"><summary>${title}</summary>${fields}</details>`

function errors({ errorStatuses = [] }: Route): string {
  if (errorStatuses.length === 0) return ''
  const statuses = errorStatuses.map((status) => `<span class="status">${status}</span>`).join(' ')
  return `<h4>Errors</h4><p class="statuses">${statuses} <a href="/docs/errors">Formats and codes</a></p>`
}

function example(route: Route): string {
  const shown = exampleOf(route)
  const tabs = codeTabs(route.name, snippetsOf(route, shown))
  if (shown.answer === undefined) return tabs
  const isText = typeof shown.answer === 'string'
  const code = typeof shown.answer === 'string' ? shown.answer : literal(shown.answer, notations.json)
  return tabs + codeBlock(code, isText ? 'text' : 'json', `Answer ${shown.status}`)
}
