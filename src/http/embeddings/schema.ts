import Type from 'typebox'
import { integer, number, text } from '../described.ts'
import { FlaggedCategories, Model, Nullish } from '../inference/reading/request-fields.ts'
import { creditProperties } from '../inference/writing/credit-fields.ts'

export const maxInputs = 2048
export const maxTokensPerInput = 8192

const tokens = { minItems: 1, maxItems: maxTokensPerInput }
const Token = Type.Integer({ minimum: 0, description: 'A token of the cl100k vocabulary.' })

/** Body of `POST /v1/embeddings`. */
export const EmbeddingsBody = Type.Object(
  {
    model: Model,
    input: Type.Union(
      [
        Type.String({ minLength: 1, description: 'One text.' }),
        Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: maxInputs, description: 'Texts.' }),
        Type.Array(Token, { ...tokens, description: 'One text as tokens.' }),
        Type.Array(Type.Array(Token, tokens), { minItems: 1, maxItems: maxInputs, description: 'Texts as tokens.' }),
      ],
      {
        description: `What to embed, at most ${maxInputs} texts of ${maxTokensPerInput} tokens. Tokens are decoded with the cl100k vocabulary of OpenAI’s embedding models, because the checks read text, and the upstream gets the text.`,
        examples: [['The gate is open.', 'The gate is closed.']],
      },
    ),
    dimensions: Nullish(
      Type.Integer({
        minimum: 1,
        maximum: 16_384,
        description: 'Length of the vectors, for models that can shorten them.',
      }),
    ),
    encoding_format: Nullish(
      Type.Enum(['float', 'base64'], {
        description: 'Vectors as lists of numbers (the default), or as base64 of 32-bit little-endian floats.',
      }),
    ),
    user: Nullish(Type.String({ maxLength: 256, description: 'The end user, for user quotas and the audit log.' })),
    flagged_categories: Nullish(FlaggedCategories),
  },
  {
    title: 'EmbeddingsRequest',
    description: 'A request in the style of the OpenAI embeddings API.',
    examples: [{ model: 'gatehouse-echo', input: ['The gate is open.', 'The gate is closed.'], dimensions: 4 }],
  },
)

const example = {
  object: 'list',
  data: [
    { object: 'embedding', index: 0, embedding: [0.5, -0.5, 0.5, 0.5] },
    { object: 'embedding', index: 1, embedding: [0.5, 0.5, -0.5, 0.5] },
  ],
  model: 'gatehouse-echo',
  usage: { prompt_tokens: 11, total_tokens: 11 },
  remaining_credits: 9999,
  estimated_credits_used: 0,
  estimated_cost_usd: 0,
}

export const EmbeddingsAnswer = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          object: Type.Literal('embedding'),
          index: integer('The position of its input.', { minimum: 0 }),
          embedding: Type.Union([Type.Array(number('One component.')), Type.String()], {
            description: 'The vector, in the requested `encoding_format`.',
          }),
        },
        { title: 'Embedding' },
      ),
      { description: 'One vector for each input, in their order.' },
    ),
    model: text('The model that the request named.'),
    usage: Type.Object(
      {
        prompt_tokens: integer('Tokens of all inputs.', { minimum: 0 }),
        total_tokens: integer('The same.', { minimum: 0 }),
      },
      { description: 'The tokens that count against limits and are charged.' },
    ),
    ...creditProperties,
  },
  { title: 'EmbeddingsResponse', examples: [example] },
)
