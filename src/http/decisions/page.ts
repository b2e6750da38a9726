/** The page of a decision, for a person without a key: what was denied, and a form to appeal. It needs no script. */
import { createHash } from 'node:crypto'
import { escapeHtml } from '../../base/escape-html.ts'
import type { DecidedRequest } from '../../domain/appeals/decided-request.ts'
import type { DecisionBody } from './schema.ts'

export type DecisionPage = {
  readonly request: DecidedRequest
  readonly body: DecisionBody
  /** What was wrong with the appeal that was sent, and its text. */
  readonly rejected?: { readonly problem: string; readonly note: string }
}

export const maxNoteLength = 1_000

export function decisionPage({ request, body, rejected }: DecisionPage): string {
  const title = titleOf(body)
  return page(title, [
    `<h1>${title}</h1>`,
    `<p>${whatHappened(body)}</p>`,
    '<dl>',
    ...entry('When', timeText(body.created_at)),
    ...entry('Rule', ruleText(request, body)),
    ...(body.evidence.length > 0 ? entry('It acted on', evidenceList(body)) : []),
    ...entry('Decision', `<code>${escapeHtml(body.event_id)}</code>`),
    '</dl>',
    ...appealSection(body.appeal, rejected),
  ])
}

/** A page with one sentence, for errors. */
export const messagePage = (title: string, message: string): string =>
  page(title, [`<h1>${escapeHtml(title)}</h1>`, `<p>${escapeHtml(message)}</p>`])

const isStopped = ({ effective_decision: effect }: DecisionBody): boolean =>
  effect === 'refuse' || effect === 'escalate'

function titleOf(body: DecisionBody): string {
  if (!isStopped(body)) return 'A rule matched'
  return body.direction === 'response' ? 'An answer was stopped' : 'A request was denied'
}

function whatHappened(body: DecisionBody): string {
  if (!body.enforced) return 'Nothing was stopped: the decision was recorded only.'
  if (!isStopped(body)) return 'The text was changed before it was sent on.'
  return body.direction === 'response'
    ? 'The answer of the model was stopped, because a rule matched it.'
    : 'The request was not sent to the model, because a rule matched it.'
}

function ruleText({ check }: DecidedRequest, { deciding, reason_code: code }: DecisionBody): string {
  if (check === 'always_blocked') return 'A category that is always blocked'
  const suffix = code === null || plainCodes.has(code) ? '' : ` (<code>${escapeHtml(code)}</code>)`
  if (deciding === null || deciding.name === null) return `A rule of the organization${suffix}`
  const version = deciding.version === null ? '' : `, version ${deciding.version}`
  return `${deciding.check === 'policy' ? 'The policy' : 'The configuration'} “${escapeHtml(deciding.name)}”${version}${suffix}`
}

/** The codes of a configuration that names none. They say nothing that the title does not. */
const plainCodes: ReadonlySet<string> = new Set(['REFUSE', 'REDACT', 'REWRITE', 'SUMMARY', 'ESCALATE', 'NOT_EVALUATED'])

function evidenceList({ evidence }: DecisionBody): string {
  const items = evidence.map(({ kind, name, part }) => {
    const where = part === null ? '' : ` in ${escapeHtml(partText(part))}`
    const what = name === null || name === '' ? '' : `: ${escapeHtml(name)}`
    return `<li>${escapeHtml(kind.replaceAll('_', ' '))}${what}${where}</li>`
  })
  return `<ul>${items.join('')}</ul>`
}

/** `messages[0]` is the first message. */
function partText(part: string): string {
  const message = /^messages\[(\d+)\]/.exec(part)?.[1]
  return message === undefined ? part : `message ${Number(message) + 1}`
}

const stateTexts = {
  open: 'An appeal is open. A person will look at it.',
  overturned: 'A person looked at it: the decision was wrong.',
  upheld: 'A person looked at it: the decision was right.',
  dismissed: 'The appeal was closed without a decision about it.',
  expired: 'Nobody decided about the appeal within 30 days.',
} as const

function appealSection(appeal: DecisionBody['appeal'], rejected: DecisionPage['rejected']): string[] {
  const { state, reason, allowed } = appeal
  if (state !== null)
    return [
      '<h2>Appeal</h2>',
      `<p role="status">${stateTexts[state]}</p>`,
      ...(reason === null ? [] : [`<blockquote>${escapeHtml(reason)}</blockquote>`]),
    ]
  if (!allowed) return []
  const problem = rejected && `<p role="alert" id="problem">${escapeHtml(rejected.problem)}</p>`
  return [
    '<h2>Was that wrong?</h2>',
    '<p>Say why in one sentence. A person will look at it, and at the text if it was kept.</p>',
    '<form method="post">',
    ...(problem === undefined ? [] : [problem]),
    '<label for="note">Why the decision is wrong</label>',
    `<textarea id="note" name="note" rows="3" maxlength="${maxNoteLength}" required${problem === undefined ? '' : ' aria-describedby="problem"'}>${escapeHtml(rejected?.note ?? '')}</textarea>`,
    '<button type="submit">Appeal</button>',
    '</form>',
  ]
}

const entry = (name: string, html: string): string[] => [`<dt>${name}</dt>`, `<dd>${html}</dd>`]

function timeText(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString()
  return `<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 38rem; padding: 2rem 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
ul { margin: 0; padding-left: 1.2rem; }
blockquote { border-left: 3px solid; margin: 0; overflow-wrap: anywhere; padding-left: 1rem; }
label { display: block; font-weight: 600; }
textarea, button { border: 1px solid; border-radius: .375rem; box-sizing: border-box; font: inherit; padding: .5rem .75rem; }
textarea { margin: .25rem 0 .75rem; width: 100%; }
button { cursor: pointer; font-weight: 600; }
`

const page = (title: string, body: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...body,
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n')

const styleHash = createHash('sha256').update(style).digest('base64')

/** No script, nothing from elsewhere, no frame, no trace in caches or search engines. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
}
