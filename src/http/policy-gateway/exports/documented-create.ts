import Type, { type TSchema } from 'typebox'
import type { SinkKind } from '../../../domain/audit/export/sink.ts'
import { exampleConfig, NewExport } from './schema.ts'

/** The part of a sink kind that the description uses. */
export type DocumentedSinkKind = Pick<SinkKind<never>, 'type' | 'schema'>

type ConfigSchema = {
  readonly title?: string
  readonly description?: string
  readonly readOnly?: boolean
  readonly anyOf?: readonly ConfigSchema[]
  readonly properties?: Readonly<Record<string, ConfigSchema>>
  readonly required?: readonly string[]
}

/**
 * The body of a creation as a union by `type`, with the configuration of each kind. Only for OpenAPI and the reference: requests are validated
 * by `NewExport` and by the kind, because the kind's messages are better than those of a union.
 */
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
