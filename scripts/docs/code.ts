import { highlight } from './highlight.ts'
import { escapeHtml } from '../../src/base/escape-html.ts'
import { baseUrlMark } from '../../src/http/docs/marks.ts'
import type { Snippet } from './snippets.ts'

/** The address in the guides, which they print as a fresh installation has it. */
const addressInGuides = 'http://127.0.0.1:8080'

/** A block of code with a title. The script adds a button that copies it. */
export function codeBlock(code: string, language: string, title = languageNames[language] ?? language): string {
  return `<figure class="code"><figcaption>${escapeHtml(title)}</figcaption>${pre(code, language)}</figure>`
}

/** One request in several languages. The choice is made with radio buttons, so it works without the script. */
export function codeTabs(name: string, snippets: readonly Snippet[]): string {
  const inputs = snippets.map(({ label }, index) => {
    const id = `${name}-${label.toLowerCase()}`
    const checked = index === 0 ? ' checked' : ''
    return `<input type="radio" name="${name}-language" id="${id}" value="${label}"${checked}><label for="${id}">${label}</label>`
  })
  const panels = snippets.map(({ code, language }) => `<div class="panel">${pre(code, language)}</div>`)
  return `<div class="code tabs" role="group" aria-label="Example request"><div class="tab-list">${inputs.join('')}</div>${panels.join('')}</div>`
}

const pre = (code: string, language: string): string =>
  `<pre tabindex="0"><code>${highlight(code.replaceAll(addressInGuides, baseUrlMark), language)}</code></pre>`

const languageNames: Readonly<Record<string, string>> = {
  sh: 'Shell',
  bash: 'Shell',
  js: 'Node',
  ts: 'TypeScript',
  json: 'JSON',
  yaml: 'YAML',
  python: 'Python',
  cel: 'CEL',
  sql: 'SQL',
  text: 'Text',
  '': 'Text',
}
