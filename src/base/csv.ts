/** A value of a CSV cell. */
export type Cell = string | number | boolean | null

/** One line of CSV as in RFC 4180. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`

/**
 * A spreadsheet runs a text that begins with one of these as a formula. Such a text gets an apostrophe before it, which
 * spreadsheets take as the mark of a text.
 */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = formulaStart.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
