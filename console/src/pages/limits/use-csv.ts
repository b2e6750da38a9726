import type { Usage } from './queries.ts'

const columns = [
  'start_time',
  'end_time',
  'project_id',
  'api_key_id',
  'model',
  'user_id',
  'requests',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'credits',
  'cost_usd',
] as const

/** Usage as a spreadsheet reads it: a line for each step and group, with the columns of the API. */
export const usageCsv = ({ data }: Usage): string =>
  [
    columns.join(','),
    ...data.flatMap(({ start_time: start, end_time: end, results }) =>
      results.map((result) => {
        const row = { ...result, start_time: timeOf(start), end_time: timeOf(end) }
        return columns.map((name) => cellOf(row[name])).join(',')
      }),
    ),
  ].join('\r\n') + '\r\n'

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString()

/** A spreadsheet runs a text that begins with one of these as a formula, unless an apostrophe is before it. */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/

function cellOf(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = formulaStart.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Saves a text as a file of the browser. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
