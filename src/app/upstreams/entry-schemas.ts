import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { Model, Upstream } from '../../config/models.ts'
import type { EntrySchemas } from '../../http/admin/models/stored.ts'

/** The bodies of upstreams and models in the API. Their fields are those of the configuration file, so that both accept the same. */

type Schema = TSchema & {
  readonly default?: unknown
  readonly description?: string
  readonly title?: string
  readonly properties?: TProperties
}

const mapFields = (properties: TProperties, change: (schema: Schema) => TSchema): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, change(schema)]))

/** A field with a default may be left out. */
function withOptionalDefaults(schema: Schema): TSchema {
  if (!('default' in schema)) return schema
  if (schema.properties === undefined) return Type.Optional(schema)
  const { default: _, properties, description = '' } = schema
  const fields = mapFields(properties, (field) => Type.Optional(withOptionalDefaults(field)))
  return Type.Optional(Type.Object(fields, { additionalProperties: false, description }))
}

/** Null gives a field its default. */
function orDefault(schema: Schema): TSchema {
  const { properties, description = '', title } = schema
  const inner =
    properties === undefined
      ? schema
      : Type.Object(mapFields(properties, orDefault), {
          additionalProperties: false,
          description,
          ...(title !== undefined && { title }),
        })
  return Type.Optional(Type.Union([inner, Type.Null()], { description }))
}

const paused = (description: string) => Type.Optional(Type.Boolean({ description }))

/** No control characters, and no spaces around it. */
const namePattern = '^[^\\u0000-\\u0020\\u007f]([^\\u0000-\\u001f\\u007f]*[^\\u0000-\\u0020\\u007f])?$'

const apiKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 8192,
    description: 'API key. It is stored encrypted, and masked in responses.',
  }),
)
const headers = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: 8192 }), {
    description: 'Headers that are added to every call. Their values are stored encrypted, and masked in responses.',
  }),
)
const headerChanges = Type.Optional(
  Type.Union([Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 8192 }), Type.Null()])), Type.Null()], {
    description: 'Merged by name; null removes a header, or all of them. A masked value keeps the stored one.',
  }),
)

const { name: upstreamName, api_key: _, headers: __, ...upstreamFields } = Upstream.properties
const upstreamPaused = paused('Whether models skip it, and go on with their next target. Default: false.')
const upstreamExample = {
  name: 'my-server',
  kind: 'openai-chat',
  base_url: 'http://127.0.0.1:8000/v1',
  api_key: 'sk-example',
}

const newUpstream = { ...mapFields(upstreamFields, withOptionalDefaults), api_key: apiKey, headers }

const { name: modelName, free_tier: ___, ...modelFields } = Model.properties
const modelPaused = paused('Whether requests for it are rejected. Default: false.')
const modelExample = {
  name: 'support-model',
  targets: [{ upstream: 'my-server', model: 'llama3.1' }],
  price: { input: 0.4, output: 1.6 },
}

const body = (fields: Record<string, TSchema>, title: string, example: object): TObject =>
  Type.Object(fields, { title, additionalProperties: false, examples: [example] })

export const entrySchemas: EntrySchemas = {
  upstream: {
    create: body(
      { name: { ...upstreamName, pattern: namePattern }, paused: upstreamPaused, ...newUpstream },
      'UpstreamCreate',
      upstreamExample,
    ),
    update: body(
      {
        paused: upstreamPaused,
        ...mapFields(upstreamFields, orDefault),
        kind: Type.Optional(upstreamFields.kind),
        api_key: orDefault(apiKey),
        headers: headerChanges,
      },
      'UpstreamUpdate',
      { paused: true },
    ),
    test: body(
      {
        ...newUpstream,
        model: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'The model to call. Default: one that it lists.' }),
        ),
      },
      'UpstreamTestRequest',
      { kind: 'echo', model: 'gatehouse-echo' },
    ),
  },
  model: {
    create: body(
      {
        name: { ...modelName, pattern: namePattern },
        paused: modelPaused,
        ...mapFields(modelFields, withOptionalDefaults),
      },
      'ModelCreate',
      modelExample,
    ),
    update: body(
      {
        paused: modelPaused,
        ...mapFields(modelFields, orDefault),
        targets: Type.Optional(modelFields.targets),
        price: orDefault({ ...modelFields.price, title: 'ModelPriceUpdate' }),
      },
      'ModelUpdate',
      { targets: [{ upstream: 'my-server', model: 'llama3.1' }] },
    ),
  },
}
