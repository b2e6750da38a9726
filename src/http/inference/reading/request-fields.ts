import Type, { type TProperties, type TSchema } from 'typebox'
import { optionalCategories } from '../../../domain/moderation/categories.ts'

/** The model name and the moderation field are the same in all three dialects. */
export const Model = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name of a model of the catalogue; `GET /v1/models` lists them.',
  examples: ['house-model'],
})

export const FlaggedCategories = Type.Array(Type.Enum([...optionalCategories]), {
  maxItems: 16,
  description: 'Extra categories to block. Self-harm and sexual content involving minors are always blocked.',
  examples: [['harassment']],
})

export const Temperature = Type.Number({
  minimum: 0,
  maximum: 2,
  description: 'How freely the model chooses its words.',
})
export const TopP = Type.Number({ minimum: 0, maximum: 1 })
export const OutputLimit = Type.Integer({
  minimum: 1,
  description: 'The most tokens the answer may have.',
  examples: [1024],
})
export const Stream = Type.Boolean({ default: false, description: 'True for an answer as server-sent events.' })
export const JsonObject = Type.Record(Type.String(), Type.Unknown())

/** Several SDKs write null for a field that was not set. */
export const Nullish = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

/**
 * A tagged object that this dialect's schema does not describe. It is let through for an upstream that knows it.
 * The compiler does not see it, so that a `switch` over the known tags stays exact and its `default` takes the rest.
 */
export const OtherThan = (tags: readonly string[]) =>
  Type.Unsafe<never>({
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string', not: { enum: tags } } },
    description: 'Any other type is passed on to an upstream of the same dialect.',
  })

/** The tags of a list of tagged objects. */
export const tagsOf = (schemas: readonly { readonly properties: TProperties }[]): string[] =>
  schemas.flatMap(({ properties: { type } }) =>
    type !== undefined && 'const' in type && typeof type.const === 'string' ? [type.const] : [],
  )
