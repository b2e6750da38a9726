import Type, { type TObject, type TSchema } from 'typebox'
import type { SinkKind } from '../../../domain/audit/export/sink.ts'
import { ChangedExport, ExportAnswer, exampleConfig, ExportList, ExportObject, NewExport } from './schema.ts'

/**
 * The bodies and answers of export sinks with the configuration of each kind, for OpenAPI and the reference. Requests are validated by the
 * schemas in `schema.ts` and by the kind, because the kind's messages are better than those of a union.
 */

/** The part of a sink kind that the description uses. */
export type DocumentedSinkKind = Pick<SinkKind<never>, 'type' | 'schema'>

type ConfigSchema = {
  readonly title?: string
  readonly description?: string
  readonly pattern?: string
  readonly readOnly?: boolean
  readonly anyOf?: readonly ConfigSchema[]
  readonly properties?: Readonly<Record<string, ConfigSchema>>
  readonly required?: readonly string[]
}

/** The body of a creation, as a union by `type`. */
export function documentedCreate(kinds: readonly DocumentedSinkKind[]): TSchema {
  const { label, enabled, start } = NewExport.properties
  const members = kinds.map(({ type, schema }) => {
    const { description = '', ...config }: ConfigSchema = withOptionalGenerated(schema)
    return Type.Object(
      { type: Type.Literal(type), config: { ...config, description: aboutConfig }, label, enabled, start },
      { title: titleOf(schema), description, additionalProperties: false },
    )
  })
  const mapping = kinds.map(({ type, schema }) => [type, `#/components/schemas/${titleOf(schema)}`])
  return Type.Union(members, {
    title: 'ExportSinkCreate',
    description: 'A destination of one kind.',
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
    examples: [{ type: 'splunk_hec', label: 'Security team', enabled: true, config: exampleConfig }],
  })
}

/** The body of a change: every field may be left out, and a masked secret keeps the stored one. */
export function documentedUpdate(kinds: readonly DocumentedSinkKind[]): TSchema {
  return withConfig(ChangedExport, Type.Union(kinds.map(({ schema }) => optionalFields(withMaskedSecrets(schema)))))
}

/** The answers. A secret in a configuration is masked. */
export function documentedAnswers(kinds: readonly DocumentedSinkKind[]): { one: TSchema; list: TSchema } {
  const sink = withConfig(ExportObject, Type.Union(kinds.map(({ schema }) => withMaskedSecrets(schema) as TSchema)))
  const { data } = ExportList.properties
  return {
    one: { ...ExportAnswer, properties: { export: sink } },
    list: { ...ExportList, properties: { ...ExportList.properties, data: { ...data, items: sink } } },
  }
}

/** The schema of a sink with this configuration. */
function withConfig(schema: TObject, config: TSchema): TSchema {
  const { config: given, ...others } = schema.properties
  const { description }: ConfigSchema = given ?? {}
  return { ...schema, properties: { ...others, config: { ...config, description } } }
}

/** The schema for an answer: a masked secret does not match the pattern of the secret. */
function withMaskedSecrets(schema: ConfigSchema): ConfigSchema {
  const { title, pattern: _pattern, ...described } = schema
  const { anyOf, properties } = schema
  const masked = {
    ...described,
    ...(anyOf && { anyOf: anyOf.map(withMaskedSecrets) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withMaskedSecrets(field)]),
      ),
    }),
  }
  if (title === undefined) return masked
  const isChanged = JSON.stringify(masked) !== JSON.stringify(described)
  return { ...masked, title: isChanged ? `Masked${title}` : title }
}

function optionalFields({ title = '', properties = {} }: ConfigSchema): TSchema {
  const fields = Object.entries(properties).map(([name, field]) => [name, Type.Optional(field as TSchema)])
  const ofUpdate = `${title.replace(/^Masked/, '')}Update`
  return Type.Object(Object.fromEntries(fields), { title: ofUpdate, additionalProperties: false })
}

const aboutConfig = 'The destination, its credentials and what it receives.'

/** `SplunkSinkCreate` for the kind whose configuration is `SplunkSinkConfig`. */
const titleOf = ({ title = '' }: ConfigSchema): string => title.replace(/Config$/, 'Create')

/** The schema for a request, which may omit the fields that the gateway generates (`readOnly`). */
function withOptionalGenerated(schema: ConfigSchema): ConfigSchema {
  const { anyOf, properties, required } = schema
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map(withOptionalGenerated) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withOptionalGenerated(field)]),
      ),
    }),
    ...(required && { required: required.filter((name) => properties?.[name]?.readOnly !== true) }),
  }
}
