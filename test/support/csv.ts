/** The rows of a CSV text by column. */
export function rowsOfCsv(text: string): Readonly<Record<string, string>>[] {
  const [head = [], ...lines] = cellsOf(text)
  return lines.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? 'missing'])))
}

/** Cells of each line, as RFC 4180 quotes them. */
function cellsOf(text: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    lines.push(cells)
    cells = []
  }
  return lines
}
