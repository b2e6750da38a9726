/** The part of JSON Schema that the configuration of a sink uses. */
export type FieldSchema = {
  readonly type?: string
  readonly const?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly readOnly?: boolean
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
}

export type SinkKind = {
  readonly type: string
  readonly description: string
  readonly config: FieldSchema
}

type Reference = { readonly $ref?: string }
type Description = {
  readonly components?: {
    readonly schemas?: Readonly<
      Record<string, FieldSchema & { readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> } }>
    >
  }
}

/** The kinds that `ExportSinkCreate` distinguishes by `type`. */
export function sinkKindsIn(description: object): readonly SinkKind[] {
  const { components: { schemas = {} } = {} }: Description = description
  const resolved = (schema: FieldSchema & Reference = {}): FieldSchema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? schema)
  const mapping = schemas['ExportSinkCreate']?.discriminator?.mapping ?? {}
  return Object.entries(mapping).map(([type, reference]) => {
    const create = resolved({ $ref: reference })
    return { type, description: create.description ?? '', config: resolved(create.properties?.['config']) }
  })
}

export const isSecret = ({ description }: FieldSchema): boolean => description?.endsWith('Masked in answers.') === true

export type Values = Readonly<Record<string, unknown>>

export const valuesOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {}

/** The alternative that a value has chosen by its `type`; the first one if none is chosen. */
export const chosenIn = (schema: FieldSchema, value: unknown): FieldSchema | undefined =>
  schema.anyOf?.find(({ properties }) => properties?.['type']?.const === valuesOf(value)['type']) ?? schema.anyOf?.[0]

/** Whether a sink with this configuration gets a file of costs for each day instead of events. */
export const sendsCosts = (values: Values): boolean => values['sends'] === 'costs'

/** Fields that choose among events. A sink of costs has none of them. */
const eventFields = ['content', 'filter']

/** The fields that somebody fills in with these values, in the order of the schema. */
const fieldsOf = ({ properties = {} }: FieldSchema, values: Values): readonly (readonly [string, FieldSchema])[] =>
  Object.entries(properties).filter(
    ([name, field]) =>
      field.readOnly !== true && field.const === undefined && !(sendsCosts(values) && eventFields.includes(name)),
  )

/**
 * Fields up to the last required one are shown at once, the others on demand. Schemas name alternatives, such as an
 * address and a cloud id, before what is required in any case.
 */
export function splitFields(schema: FieldSchema, values: Values = {}) {
  const fields = fieldsOf(schema, values)
  const last = fields.findLastIndex(([name]) => schema.required?.includes(name))
  return { shown: fields.slice(0, last + 1), further: fields.slice(last + 1) }
}

/** The values that were filled in; undefined if there are none. */
export function filledIn(schema: FieldSchema, value: unknown): unknown {
  const object = schema.anyOf ? chosenIn(schema, value) : schema
  if (object?.properties === undefined) return value === '' || isEmptyList(value) ? undefined : value
  const given = valuesOf(value)
  const type = object.properties['type']?.const
  const entries = fieldsOf(object, given).flatMap(([name, field]): [string, unknown][] => {
    const filled = filledIn(field, given[name])
    return filled === undefined ? [] : [[name, filled]]
  })
  if (entries.length === 0 && type === undefined) return undefined
  return { ...(type !== undefined && { type }), ...Object.fromEntries(entries) }
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** What a PATCH sends: the fields that differ, and null for those that were removed. */
export function changedFields(before: Values, after: Values): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return Object.fromEntries(
    [...names].flatMap((name) =>
      JSON.stringify(before[name]) === JSON.stringify(after[name]) ? [] : [[name, after[name] ?? null]],
    ),
  )
}

/** Whether the form has an input for this field, such as `auth.password`. */
export function hasInput(schema: FieldSchema, path: readonly string[], value: unknown): boolean {
  const [name, ...rest] = path
  const object = schema.anyOf ? chosenIn(schema, value) : schema
  if (name === undefined) return object?.properties === undefined
  const field = object?.properties?.[name]
  return field !== undefined && hasInput(field, rest, valuesOf(value)[name])
}
