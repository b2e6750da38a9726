export type Literal = { readonly text: string; readonly line: number }

export type ScannedSource = {
  /** String literals, and the fixed parts of templates. */
  readonly literals: readonly Literal[]
  /** The source with comments, strings and regular expressions blanked, line by line as before. */
  readonly code: string
}

const token =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|[`{}]/g
const templatePart = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y
/** The tokens before a regular expression. After a value, a slash is a division. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\breturn|\btypeof|\bcase|=>)\s*$/

/** Separates string literals from code and comments. A full parser is not needed: the sources are formatted and compile. */
export function scanSource(text: string): ScannedSource {
  const literals: Literal[] = []
  /** For each open template, how many braces are open inside its `${`. */
  const templates: number[] = []
  let code = ''
  let at = 0
  const skip = (end: number): void => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const take = (value: string, start: number): void =>
    void literals.push({ text: value, line: text.slice(0, start).split('\n').length })
  /** From inside a template to its end or to the next `${`. */
  const readTemplate = (): void => {
    templatePart.lastIndex = at
    const part = templatePart.exec(text)?.[0] ?? ''
    take(part, at)
    const isOver = text[at + part.length] !== '$'
    if (!isOver) templates.push(0)
    skip(at + part.length + (isOver ? 1 : 2))
  }
  for (;;) {
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) return { literals, code: code + text.slice(at) }
    const [found] = match
    code += text.slice(at, match.index)
    at = match.index
    const depth = templates.at(-1)
    if (found === '`') {
      skip(at + 1)
      readTemplate()
    } else if (found === '}' && depth === 0) {
      templates.pop()
      skip(at + 1)
      readTemplate()
    } else if (found === '{' || found === '}') {
      if (depth !== undefined) templates[templates.length - 1] = depth + (found === '{' ? 1 : -1)
      code += found
      at += 1
    } else if (isDivision(found, code)) {
      code += '/'
      at += 1
    } else {
      if (/^['"]/.test(found)) take(found.slice(1, -1), at)
      skip(at + found.length)
    }
  }
}

const isDivision = (found: string, code: string): boolean =>
  found.startsWith('/') && !/^\/[/*]/.test(found) && !beforeRegExp.test(code.trimEnd())
