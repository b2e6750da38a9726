/** A value of a row in SQLite. Integers are read as `bigint`, because a number does not hold all of them. */
export type CopyValue = string | number | bigint | Uint8Array | null

/** One line for `copy … from stdin`, in PostgreSQL's text format. */
export const toCopyLine = (row: readonly CopyValue[]): string => `${row.map(toField).join('\t')}\n`

function toField(value: CopyValue): string {
  if (typeof value === 'string') return special.test(value) ? value.replaceAll(specials, escaped) : value
  if (value === null) return '\\N'
  return value instanceof Uint8Array ? `\\\\x${value.toHex()}` : String(value)
}

/** PostgreSQL stores no NUL in a text. The replacement has the same length in UTF-8, so that sums of lengths stay comparable. */
const substitute = '\u001a'

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': substitute,
}

// oxlint-disable-next-line no-control-regex -- these are the characters that need an escape
const special = /[\\\t\n\r\0]/
const specials = new RegExp(special, 'g')
const escaped = (character: string): string => escapes[character] ?? character

/** How many texts of the row contain NUL. */
export const countNulTexts = (row: readonly CopyValue[]): number =>
  row.filter((value) => typeof value === 'string' && value.includes('\0')).length
