import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asRecords, asText } from '../json-values.ts'

const maxDepth = 6

/** A simple value that fits a JSON schema: the schema's own default or example if it has one, else the shortest of its type. */
export const sampleOf = (schema: JsonRecord, name = 'text'): unknown => sample(schema, { root: schema, name, depth: 0 })

type Where = { readonly root: JsonRecord; readonly name: string; readonly depth: number }

function sample(schema: JsonRecord, where: Where): unknown {
  if (where.depth > maxDepth) return null
  const suggested = [schema['const'], schema['default'], asList(schema['examples'])[0], asList(schema['enum'])[0]]
  const suggestion = suggested.find((value) => value !== undefined)
  if (suggestion !== undefined) return suggestion
  const inner = resolve(schema, where.root) ?? asRecords(schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'])[0]
  if (inner !== undefined) return sample(inner, { ...where, depth: where.depth + 1 })
  return byType(schema, where)
}

/** Resolves a reference within the schema, such as `#/$defs/Place`. */
function resolve(schema: JsonRecord, root: JsonRecord): JsonRecord | undefined {
  const path = asText(schema['$ref'])
  if (!path.startsWith('#/')) return undefined
  return path
    .slice(2)
    .split('/')
    .reduce<JsonRecord | undefined>((at, key) => asRecord(at?.[key]), root)
}

function byType(schema: JsonRecord, where: Where): unknown {
  const type = Array.isArray(schema['type']) ? asText(schema['type'][0]) : asText(schema['type'])
  switch (type) {
    case 'object':
    case '':
      return sampleObject(schema, where)
    case 'array': {
      const items = asRecord(schema['items'])
      return items === undefined ? [] : [sample(items, { ...where, depth: where.depth + 1 })]
    }
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? Math.ceil(schema['minimum']) : 1
    case 'boolean':
      return true
    case 'string':
      return where.name
    default:
      return null
  }
}

/** The required properties, or all if none is required. A string has the name of its property as its value. */
function sampleObject(schema: JsonRecord, where: Where): JsonRecord {
  const properties = asRecord(schema['properties']) ?? {}
  const required = asList(schema['required']).map(asText)
  const names = required.length > 0 ? required : Object.keys(properties)
  return Object.fromEntries(
    names.map((name) => [name, sample(asRecord(properties[name]) ?? {}, { ...where, name, depth: where.depth + 1 })]),
  )
}
