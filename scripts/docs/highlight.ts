import { escapeHtml } from '../../src/base/escape-html.ts'

const word = (words: string): RegExp => new RegExp(`\\b(?:${words})\\b`, 'y')

const hashComment = /#[^\n]*/y
const slashComment = /\/\/[^\n]*/y
const doubleQuoted = /"(?:[^"\\\n]|\\.)*"/y
const singleQuoted = /'(?:[^'\\]|\\.)*'/y
const backQuoted = /`(?:[^`\\]|\\.)*`/y
const number = /-?\b\d[\d_]*(?:\.\d+)?\b/y
const jsonKey = /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y

type Rule = readonly [kind: 'comment' | 'keyword' | 'name' | 'number' | 'string', pattern: RegExp]

const jsWords =
  'async|await|break|case|catch|class|const|continue|else|export|false|for|from|function|if|import|in|let|new|null|of|return|throw|true|try|undefined|while'
const pythonWords =
  'and|as|async|await|class|def|elif|else|except|False|finally|for|from|if|import|in|is|None|not|or|pass|print|raise|return|True|try|while|with|yield'

const js: readonly Rule[] = [
  ['comment', slashComment],
  ['string', singleQuoted],
  ['string', doubleQuoted],
  ['string', backQuoted],
  ['name', /\b[A-Za-z_]\w*(?=:\s)/y],
  ['keyword', word(jsWords)],
  ['number', number],
]
const python: readonly Rule[] = [
  ['comment', hashComment],
  ['name', jsonKey],
  ['string', doubleQuoted],
  ['string', singleQuoted],
  ['name', /\b[A-Za-z_]\w*(?==[^=])/y],
  ['keyword', word(pythonWords)],
  ['number', number],
]
const shell: readonly Rule[] = [
  ['comment', /(?<=^|\s)#[^\n]*/y],
  ['name', jsonKey],
  ['string', doubleQuoted],
  ['number', /(?<=": )-?\d[\d.]*/y],
  ['keyword', /(?<=": )(?:true|false|null)\b/y],
  ['name', /\$\{?\w+\}?/y],
  ['keyword', /(?<=\s)--?[A-Za-z][\w-]*/y],
  ['keyword', /(?<=^|\n|\| ?)(?:curl|npm|node|npx|gatehouse|export|python3?|pip)\b/y],
]
const json: readonly Rule[] = [
  ['name', jsonKey],
  ['string', doubleQuoted],
  ['keyword', word('true|false|null')],
  ['number', number],
]
const yaml: readonly Rule[] = [
  ['comment', /(?<=^|\s)#[^\n]*/y],
  ['string', doubleQuoted],
  ['string', /(?<=[\s[,{])'[^'\n]*'/y],
  ['name', /[\w.-]+(?=:(?:\s|$))/y],
  ['keyword', word('true|false|null')],
  ['number', /(?<=[\s[,{])-?\d[\d_.]*(?=[\s,}\]]|$)/y],
]
const cel: readonly Rule[] = [
  ['keyword', /^cel:/y],
  ['string', doubleQuoted],
  ['keyword', word('true|false|null|in|has')],
  ['number', number],
]

const languages: Readonly<Record<string, readonly Rule[]>> = {
  js,
  ts: js,
  python,
  sh: shell,
  bash: shell,
  json,
  yaml,
  cel,
}

/** The code as HTML with coloured words. Code in other languages stays plain. */
export function highlight(code: string, language: string): string {
  const rules = languages[language]
  if (rules === undefined) return escapeHtml(code)
  let html = ''
  let plainFrom = 0
  let at = 0
  while (at < code.length) {
    const found = tokenAt(code, at, rules)
    if (found === undefined) {
      at = afterWord(code, at)
      continue
    }
    html += `${escapeHtml(code.slice(plainFrom, at))}<span class="c-${found.kind}">${escapeHtml(found.text)}</span>`
    at += found.text.length
    plainFrom = at
  }
  return html + escapeHtml(code.slice(plainFrom))
}

function tokenAt(code: string, at: number, rules: readonly Rule[]) {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at
    const text = pattern.exec(code)?.[0]
    if (text !== undefined && text !== '') return { kind, text }
  }
  return undefined
}

/** Skips a whole word, so that no token starts in the middle of it. */
function afterWord(code: string, at: number): number {
  let next = at + 1
  if (/\w/.test(code[at] ?? '')) while (next < code.length && /\w/.test(code[next] ?? '')) next += 1
  return next
}
