import { isRecord } from '../base/record.ts'

type Fields = ReadonlyMap<string, unknown>

/** What changes between two configurations, as `diff` would show it; of a list, what comes and what goes. */
export function gatewayDiffLines(before: object, after: object): string[] {
  const [old, next] = [new Map(fieldsOf(before)), new Map(fieldsOf(after))]
  return [...next.keys()].flatMap((field) => linesOf(field, old, next))
}

function linesOf(field: string, old: Fields, next: Fields): string[] {
  const [before, after] = [old.get(field), next.get(field)]
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (!Array.isArray(before) || !Array.isArray(after)) return [line('-', field, before), line('+', field, after)]
  const gone = before.filter((item) => !after.includes(item))
  const come = after.filter((item) => !before.includes(item))
  if (gone.length + come.length === 0) return [`~ ${field}: in another order`]
  return [...gone.map((item) => line('-', field, item)), ...come.map((item) => line('+', field, item))]
}

const line = (sign: string, field: string, value: unknown): string =>
  `${sign} ${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`

/** Every field that holds no others, by its path. */
function fieldsOf(value: object, path = ''): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isRecord(inner) ? fieldsOf(inner, `${path}${name}.`) : [[`${path}${name}`, inner]],
  )
}
