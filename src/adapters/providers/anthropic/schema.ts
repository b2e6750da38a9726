import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asText } from '../json-values.ts'

/** Keywords that are supported unchanged. */
const supported: ReadonlySet<string> = new Set(['$ref', 'type', 'enum', 'const', 'title', 'required', 'default'])

const stringFormats: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])

/**
 * Converts a JSON schema to the subset that Anthropic's structured output accepts: objects allow no additional properties,
 * `oneOf` becomes `anyOf`, and unsupported keywords move into the description, where the model reads them.
 */
export function strictSchema(schema: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = {}
  const unsupported: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'description' || keyword === 'additionalProperties' || keyword === '$schema') continue
    const entry = translate(keyword, value)
    if (entry === undefined) unsupported.push(`${keyword}: ${JSON.stringify(value)}`)
    else result[entry.keyword] = entry.value
  }
  if ([schema['type']].flat().includes('object')) {
    result['properties'] ??= {}
    result['additionalProperties'] = false
  }
  const description = [asText(schema['description']), unsupported.length > 0 ? `{${unsupported.join(', ')}}` : '']
  const text = description.filter((one) => one !== '').join('\n\n')
  return text === '' ? result : { ...result, description: text }
}

function translate(keyword: string, value: unknown): { keyword: string; value: unknown } | undefined {
  if (supported.has(keyword)) return { keyword, value }
  switch (keyword) {
    case 'oneOf':
    case 'anyOf':
      return { keyword: 'anyOf', value: asList(value).map(inner) }
    case 'allOf':
      return { keyword, value: asList(value).map(inner) }
    case 'items':
      return { keyword, value: inner(value) }
    case 'properties':
    case '$defs':
    case 'definitions':
      return { keyword, value: mapValues(value) }
    case 'format':
      return stringFormats.has(asText(value)) ? { keyword, value } : undefined
    case 'minItems':
      return value === 0 || value === 1 ? { keyword, value } : undefined
    default:
      return undefined
  }
}

const inner = (value: unknown): unknown => {
  const schema = asRecord(value)
  return schema === undefined ? value : strictSchema(schema)
}

const mapValues = (value: unknown): JsonRecord =>
  Object.fromEntries(Object.entries(asRecord(value) ?? {}).map(([name, schema]) => [name, inner(schema)]))
