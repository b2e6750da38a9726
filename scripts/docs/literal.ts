/** How a language writes values. */
type Notation = {
  readonly text: (value: string) => string
  readonly key: (name: string) => string
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>
  /** The space inside the braces of an object on one line. */
  readonly padding: string
  readonly indent: string
  /** After the last item of a list on several lines. */
  readonly trailing: string
}

const literalWords = { true: 'true', false: 'false', null: 'null' }

const json: Notation = {
  text: (value) => JSON.stringify(value),
  key: (name) => `${JSON.stringify(name)}: `,
  words: literalWords,
  padding: ' ',
  indent: '  ',
  trailing: '',
}

const js: Notation = {
  ...json,
  text: (value) => (/['\\\n]/.test(value) ? JSON.stringify(value) : `'${value}'`),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? `${name}: ` : `'${name}': `),
  trailing: ',',
}

const python: Notation = {
  ...json,
  words: { true: 'True', false: 'False', null: 'None' },
  padding: '',
  indent: '    ',
  trailing: ',',
}

export const notations = { json, js, python }

const maxWidth = 64

/** A value as source code: on one line if it is short, otherwise one item per line. `margin` is the indentation of its first line. */
export function literal(value: unknown, notation: Notation, margin = ''): string {
  if (typeof value === 'string') return notation.text(value)
  if (typeof value === 'boolean') return notation.words[value ? 'true' : 'false']
  if (value === null || value === undefined) return notation.words.null
  if (typeof value !== 'object') return String(value)
  const [open, close, padding] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', notation.padding]
  const inner = margin + notation.indent
  const items = (at: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => literal(item, notation, at))
      : Object.entries(value).map(([name, item]) => notation.key(name) + literal(item, notation, at))
  const short = items(inner)
  if (short.length === 0) return open + close
  const line = `${open}${padding}${short.join(', ')}${padding}${close}`
  if (!line.includes('\n') && margin.length + line.length <= maxWidth) return line
  return `${open}\n${short.map((item) => inner + item).join(',\n')}${notation.trailing}\n${margin}${close}`
}
