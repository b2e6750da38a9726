import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asText } from '../json-values.ts'

/** Keywords that the API documents, and whose values are no schemas. */
const supported: ReadonlySet<string> = new Set([
  '$ref',
  '$id',
  '$anchor',
  'type',
  'title',
  'description',
  'enum',
  'required',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
])

const formats: ReadonlySet<string> = new Set(['date-time', 'date', 'time', 'int32', 'int64', 'float', 'double'])

/**
 * Converts a JSON schema to the subset that the API accepts: `oneOf` becomes `anyOf`, `const` a list of one value, and
 * `definitions` the newer `$defs`. Other keywords are left out, because the API rejects or ignores them.
 */
export function acceptedSchema(schema: JsonRecord): JsonRecord {
  const entries = Object.entries(schema).flatMap(([keyword, value]) => translate(keyword, value))
  return Object.fromEntries(entries)
}

function translate(keyword: string, value: unknown): [keyword: string, value: unknown][] {
  if (supported.has(keyword)) return [[keyword, keyword === '$ref' ? inDefs(value) : value]]
  switch (keyword) {
    case 'const':
      return [['enum', [value]]]
    case 'format':
      return formats.has(asText(value)) ? [[keyword, value]] : []
    case 'oneOf':
    case 'anyOf':
      return [['anyOf', asList(value).map(inner)]]
    case 'prefixItems':
      return [[keyword, asList(value).map(inner)]]
    case 'items':
    case 'additionalProperties':
      return [[keyword, inner(value)]]
    case 'properties':
      return [[keyword, mapValues(value)]]
    case '$defs':
    case 'definitions':
      return [['$defs', mapValues(value)]]
    default:
      return []
  }
}

const inDefs = (reference: unknown): string => asText(reference).replace(/^#\/definitions\//, '#/$defs/')

const inner = (value: unknown): unknown => {
  const schema = asRecord(value)
  return schema === undefined ? value : acceptedSchema(schema)
}

const mapValues = (value: unknown): JsonRecord =>
  Object.fromEntries(Object.entries(asRecord(value) ?? {}).map(([name, schema]) => [name, inner(schema)]))
