import type { TSchema } from 'typebox'

export type Json = Record<string, unknown>

export type Components = {
  /** `components.schemas`, by title. */
  readonly schemas: Readonly<Record<string, Json>>
  /** The schema for the description: a reference if it has a title. The same applies to the schemas inside it. */
  describe(schema: TSchema): Json
}

/** Collects schemas with a title as components. A schema without a title stays where it is used. */
export function createComponents(): Components {
  const schemas: Record<string, Json> = {}

  function describe(schema: object): Json {
    const { title, ...described } = withPlainRecords(mapSchemas(schema, describe))
    if (typeof title !== 'string') return described
    // The same type may mean something else where it is used, so the description is there, too.
    const { description, ...content } = described
    const known = schemas[title] ?? described
    if (JSON.stringify({ ...known, description: undefined }) !== JSON.stringify(content)) {
      throw new Error(`Two different schemas have the title ${title}.`)
    }
    schemas[title] = known['description'] === description ? known : content
    return { $ref: `#/components/schemas/${title}`, ...(description !== undefined && { description }) }
  }

  return { schemas, describe }
}

/** The keywords whose value is a schema, a list of schemas, or schemas by name. All others hold no schema. */
const one: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])
const several: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties'])

function mapSchemas(schema: object, describe: (inner: object) => Json): Json {
  const inner = (keyword: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (one.has(keyword)) return describe(value)
    if (several.has(keyword)) return Object.values(value).map((each) => describe(Object(each)))
    if (!named.has(keyword)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asField(describe(each))]))
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, inner(keyword, value)]))
}

/** A field with one value needs no description of its own. Generators for TypeScript require a field with a default. */
function asField({ default: standard, ...field }: Json): Json {
  const always = 'const' in field ? { description: `Always \`${String(field['const'])}\`.` } : {}
  if (standard === undefined) return { ...always, ...field }
  const description = [field['description'], `Default: \`${JSON.stringify(standard)}\`.`].filter(Boolean).join(' ')
  return { ...field, description }
}

/** Code generators know `additionalProperties` but not `patternProperties`, and need the `type` of an enumeration. */
function withPlainRecords({ patternProperties, ...schema }: Json): Json {
  const [pattern, ...others] = Object.entries(Object(patternProperties))
  if (pattern !== undefined && others.length === 0 && pattern[0] === '^.*$') {
    return { ...schema, additionalProperties: pattern[1] }
  }
  const isText = Array.isArray(schema['enum']) && schema['enum'].every((value) => typeof value === 'string')
  return {
    ...(isText && { type: 'string' }),
    ...schema,
    ...(patternProperties !== undefined && { patternProperties }),
  }
}
