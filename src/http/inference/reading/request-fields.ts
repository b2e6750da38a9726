import Type, { type TProperties, type TSchema } from 'typebox'
import { efforts, type Effort } from '../../../domain/inference/request.ts'
import { optionalCategories } from '../../../domain/scan/classify/categories.ts'

/** The model name and the moderation field are the same in all three dialects. */
export const Model = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Model name; `GET /v1/models` lists the available ones.',
  examples: ['gatehouse-echo'],
})

export const FlaggedCategories = Type.Array(Type.Enum([...optionalCategories]), {
  maxItems: 16,
  description: 'Extra categories to block. Self-harm and sexual content involving minors are always blocked.',
  examples: [['harassment']],
})

export const Temperature = Type.Number({
  minimum: 0,
  maximum: 2,
  description: 'Sampling temperature.',
})
export const TopP = Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling probability.' })
export const OutputLimit = Type.Integer({
  minimum: 1,
  description: 'Maximum number of output tokens.',
  examples: [1024],
})
export const Stream = Type.Boolean({
  default: false,
  description: 'True to receive the response as server-sent events.',
})
const json = { title: 'JsonObject' }
export const JsonObject = Type.Record(Type.String(), Type.Unknown(), json)
export const jsonObject = (description: string) => Type.Record(Type.String(), Type.Unknown(), { ...json, description })

/** Some SDKs send null for a field that is not set. */
export const Nullish = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()], descriptionOf(schema)))

const descriptionOf = ({ description }: { readonly description?: unknown }): { description?: string } =>
  typeof description === 'string' ? { description } : {}

const passedOther = 'Any other type is passed unchanged to an upstream of the same dialect.'
/** The description of such an object in an answer. */
export const receivedOther = 'Any other type, as an upstream of the same dialect sends it.'

/**
 * An object whose `type` is none of these tags. It is accepted, because an upstream may support it. Its static type is
 * `never`, so that a `switch` over the known tags stays exhaustive and `default` handles the others.
 */
export const OtherThan = (title: string, tags: readonly string[], description = passedOther) =>
  Type.Unsafe<never>({
    title,
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string', not: { enum: tags }, description: 'The type.' } },
    description,
  })

/** The tags of a list of tagged objects. */
export const tagsOf = (schemas: readonly { readonly properties: TProperties }[]): string[] =>
  schemas.flatMap(({ properties: { type } }) =>
    type !== undefined && 'const' in type && typeof type.const === 'string' ? [type.const] : [],
  )

const knownEfforts: ReadonlySet<string> = new Set(efforts)

/** All dialects use the same names for the reasoning effort. An unknown name is left to the upstream. */
export const effortByName = (name: string | null | undefined): Effort | undefined => (isEffort(name) ? name : undefined)

const isEffort = (name: string | null | undefined): name is Effort => typeof name === 'string' && knownEfforts.has(name)

type ToolSchema = Readonly<Record<string, unknown>>

/** The JSON Schema of a tool without `$schema`, which code generators add and some upstreams reject. */
export function parametersOf(schema: ToolSchema | null | undefined): ToolSchema {
  if (!schema) return { type: 'object', properties: {} }
  const parameters = { ...schema }
  delete parameters['$schema']
  return parameters
}
