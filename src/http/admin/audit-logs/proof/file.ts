import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SignedCheckpoint } from '../../../../domain/audit/chain/checkpoint.ts'
import { escapeHtml } from '../../../../base/escape-html.ts'

/** The line of the file before its events. `gatehouse audit verify --file` reads it as well. */
export type ProofHeader = {
  readonly type: 'audit.proof'
  readonly version: 1
  readonly gatehouse: string
  readonly organization: { readonly id: string; readonly name: string }
  /** Unix seconds; null for an open end. */
  readonly from: number | null
  readonly to: number | null
  readonly saved_at: number
  readonly keys: readonly { readonly id: string; readonly public_key: string }[]
  readonly checkpoints: readonly SignedCheckpoint[]
  readonly handovers: readonly SignedCheckpoint[]
}

const part = (name: string): string => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8').trim()
const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** What stands before and after the lines of the events. The page is complete only with its end, which has the script. */
export function proofFile(header: ProofHeader): { readonly start: string; readonly end: string } {
  const style = part('style.css')
  const script = `${part('verify.js')}\n${part('script.js')}`
  // The page can load nothing and reach no network, and runs this script only.
  const policy = `default-src 'none'; style-src ${digest(style)}; script-src ${digest(script)}`
  const start = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit log of ${escapeHtml(header.organization.name)}</title>
<style>${style}</style>
</head>
<body>
${filled(part('page.html'), header)}
<script type="application/json" id="header">
${inScript(JSON.stringify(header))}
</script>
<script type="application/x-ndjson" id="events">
`
  return { start, end: `</script>\n<script type="module">${script}</script>\n</body>\n</html>\n` }
}

/** JSON in which no text can end the script element that holds it. A parser reads the same value. */
export const inScript = (json: string): string => json.replaceAll('<', String.raw`\u003c`)

function filled(template: string, { organization, from, to, saved_at: savedAt, gatehouse }: ProofHeader): string {
  const values: Readonly<Record<string, string>> = {
    organization: organization.name,
    period: `${from === null ? 'From the start of the log' : timeOf(from)} to ${timeOf(to ?? savedAt)}`,
    saved: timeOf(savedAt),
    version: gatehouse,
  }
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''))
}

const timeOf = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
