import type { Json } from '../reading.ts'
import { listOf, recordOf, recordsOf, textOf } from '../reading.ts'

const maxDepth = 6

/** The simplest value that a JSON schema allows: what it suggests itself, else the shortest of its type. */
export const sampleOf = (schema: Json, name = 'text'): unknown => sample(schema, { root: schema, name, depth: 0 })

type Where = { readonly root: Json; readonly name: string; readonly depth: number }

function sample(schema: Json, where: Where): unknown {
  if (where.depth > maxDepth) return null
  const suggested = [schema['const'], schema['default'], listOf(schema['examples'])[0], listOf(schema['enum'])[0]]
  const suggestion = suggested.find((value) => value !== undefined)
  if (suggestion !== undefined) return suggestion
  const inner = resolve(schema, where.root) ?? recordsOf(schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'])[0]
  if (inner !== undefined) return sample(inner, { ...where, depth: where.depth + 1 })
  return byType(schema, where)
}

/** A reference within the schema, such as `#/$defs/Place`. */
function resolve(schema: Json, root: Json): Json | undefined {
  const path = textOf(schema['$ref'])
  if (!path.startsWith('#/')) return undefined
  return path
    .slice(2)
    .split('/')
    .reduce<Json | undefined>((at, key) => recordOf(at?.[key]), root)
}

function byType(schema: Json, where: Where): unknown {
  const type = Array.isArray(schema['type']) ? textOf(schema['type'][0]) : textOf(schema['type'])
  switch (type) {
    case 'object':
    case '':
      return sampleObject(schema, where)
    case 'array': {
      const items = recordOf(schema['items'])
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

/** The required properties; all of them where none is. A text is the name of its property. */
function sampleObject(schema: Json, where: Where): Json {
  const properties = recordOf(schema['properties']) ?? {}
  const required = listOf(schema['required']).map(textOf)
  const names = required.length > 0 ? required : Object.keys(properties)
  return Object.fromEntries(
    names.map((name) => [name, sample(recordOf(properties[name]) ?? {}, { ...where, name, depth: where.depth + 1 })]),
  )
}
