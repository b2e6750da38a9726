import type { Static } from 'typebox'
import { isRecord } from '../../base/record.ts'
import { estimateTokens, type CountTexts } from '../../domain/inference/count.ts'
import type { DecodeTokens, EmbeddingsRequest } from '../../domain/inference/embeddings.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import { invalidField } from '../validate.ts'
import { maxInputs, maxTokensPerInput, EmbeddingsBody } from './schema.ts'

type Body = Static<typeof EmbeddingsBody>
type Path = readonly (string | number)[]

export type EmbeddingsInputParts = { readonly countTexts: CountTexts; readonly decodeTokens: DecodeTokens }

/** OpenAI's own limit for all inputs of a request. Decoding more would keep the thread busy. */
const maxTokensPerRequest = 300_000

/** Numbers of all vectors of a response. Printing more would keep the thread busy, and numbers in JSON take longest. */
const maxNumbers = { float: 1_048_576, base64: 8_388_608 }

/** Before the schema, whose message would be about the type of the first item: a list fits two forms. */
export function requireLength(body: unknown): void {
  const input = isRecord(body) ? body['input'] : undefined
  if (!Array.isArray(input)) return
  const isTokens = typeof input[0] === 'number'
  const max = isTokens ? maxTokensPerInput : maxInputs
  if (input.length <= max) return
  throw invalidField(['input'], `has ${input.length} ${isTokens ? 'tokens' : 'texts'}, and at most ${max} are accepted`)
}

export async function decodeEmbeddings(
  body: Body,
  caller: Caller,
  parts: EmbeddingsInputParts,
): Promise<EmbeddingsRequest> {
  const { model, input, dimensions, encoding_format, user, flagged_categories } = body
  const inputs = await textsOf(input, parts.decodeTokens)
  requireFewNumbers(body, inputs.length)
  await requireShort(input, inputs, { caller, countTexts: parts.countTexts })
  return {
    model,
    stream: false,
    inputs,
    encoding: encoding_format ?? 'float',
    ...(typeof dimensions === 'number' && { dimensions }),
    ...(typeof user === 'string' && { user }),
    flaggedCategories: flagged_categories ?? [],
    unknownFields: unknownFieldsOf(body),
  }
}

function requireFewNumbers({ dimensions, encoding_format }: Body, inputs: number): void {
  const most = maxNumbers[encoding_format ?? 'float']
  if (typeof dimensions !== 'number' || dimensions * inputs <= most) return
  const advice =
    encoding_format === 'base64' ? 'send fewer inputs' : 'send fewer inputs, or set encoding_format to base64'
  throw invalidField(['dimensions'], `times ${inputs} inputs is more than ${most} numbers; ${advice}`)
}

/** A response header names them, so only plain names of a usual length are. */
const unknownFieldsOf = (body: Body): readonly string[] =>
  Object.keys(body)
    .filter((name) => !Object.hasOwn(EmbeddingsBody.properties, name) && /^\w{1,64}$/.test(name))
    .slice(0, maxNamed)

const maxNamed = 20

const pathOf = (input: Body['input'], at: number): Path =>
  typeof input === 'string' || typeof input[0] === 'number' ? ['input'] : ['input', at]

/** Tokens become text: the checks read text, and what they read is what the upstream gets. */
async function textsOf(input: Body['input'], decodeTokens: DecodeTokens): Promise<readonly string[]> {
  if (typeof input === 'string') return [input]
  if (isListOf(input, 'string')) return input
  const lists = isListOf(input, 'number') ? [input] : (input as readonly (readonly number[])[])
  const count = lists.reduce((sum, { length }) => sum + length, 0)
  if (count > maxTokensPerRequest)
    throw invalidField(['input'], `has ${count} tokens, and at most ${maxTokensPerRequest} are accepted in one request`)
  const texts = await decodeTokens(lists)
  return texts.map((decoded, at) => {
    if (decoded) return decoded
    throw invalidField(pathOf(input, at), 'has tokens that are not of the cl100k vocabulary; send the text instead')
  })
}

const isListOf = <Name extends 'string' | 'number'>(
  list: readonly unknown[],
  type: Name,
): list is readonly (Name extends 'string' ? string : number)[] => typeof list[0] === type

type Counting = { readonly caller: Caller; readonly countTexts: CountTexts }

/** The estimate errs high, so only a text that it puts above the limit is counted. */
async function requireShort(
  input: Body['input'],
  inputs: readonly string[],
  { caller, countTexts }: Counting,
): Promise<void> {
  const queueKey = caller.kind === 'free' ? 'free' : caller.organization.id
  for (const [at, one] of inputs.entries()) {
    if (estimateTokens(one) <= maxTokensPerInput) continue
    const { tokens, method } = await countTexts([one], { queueKey })
    // Without a count the upstream decides, because an estimate by length could reject a text that is short enough.
    if (method === 'length' || tokens <= maxTokensPerInput) continue
    throw invalidField(pathOf(input, at), `has about ${tokens} tokens, and at most ${maxTokensPerInput} are accepted`)
  }
}
