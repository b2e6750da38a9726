/** A text table whose columns are as wide as their widest cell. Control characters in a cell cannot break its row. */
export function table(head: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(oneLine))
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].join('\n')
}

type OwnedRow = { readonly cells: readonly string[]; readonly managed_by?: string | undefined }

/** A table with a further column for the files that manage a resource, if there are any. */
export function tableWithOwners(head: readonly string[], rows: readonly OwnedRow[]): string {
  const hasOwners = rows.some(({ managed_by: owner }) => owner !== undefined)
  const cells = rows.map((row) => [...row.cells, ...(hasOwners ? [row.managed_by ?? '-'] : [])])
  return table([...head, ...(hasOwners ? ['MANAGED BY'] : [])], cells)
}

/** The date and time of Unix seconds; `-` for none. */
export const dateOf = (seconds: number | null | undefined): string =>
  typeof seconds === 'number' ? new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ') : '-'

/** The same of an ISO time. */
export const timeOf = (iso: string | null): string => (iso === null ? '-' : iso.slice(0, 16).replace('T', ' '))

const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

const escaped = (character: string): string =>
  character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Escapes control characters, and characters that change the direction of text; keeps line ends and tabs. Upstreams and tenants
 * write some of what a command prints, and could otherwise send commands to the operator's terminal or reverse its text.
 */
export const visible = (text: string): string =>
  text.replace(unsafe, (character) => (character === '\n' || character === '\t' ? character : escaped(character)))

/** The same on one line, because a name with line ends could hide or add lines of a plan that somebody confirms. */
export const oneLine = (text: string): string => text.replace(unsafe, escaped)
