import Type from 'typebox'
import { flag, number, text } from '../described.ts'
import { moderationCategories, type ModerationCategory } from '../../wire/openai-moderations.ts'

const maxInputs = 256

const TextPart = Type.Object({ type: Type.Literal('text'), text: text('The text.') }, { title: 'ModerationTextPart' })
const ImagePart = Type.Object(
  {
    type: Type.Literal('image_url'),
    image_url: Type.Object({ url: text('The address of the image.') }, { description: 'An image.' }),
  },
  { title: 'ModerationImagePart' },
)

export const ModerationBody = Type.Object(
  {
    input: Type.Union(
      [
        Type.String({ description: 'One text.' }),
        Type.Array(Type.String(), {
          minItems: 1,
          maxItems: maxInputs,
          description: 'Texts, with one result each.',
        }),
        Type.Array(Type.Union([TextPart, ImagePart]), {
          minItems: 1,
          maxItems: maxInputs,
          description: 'Parts of one message, with one result. Images are rejected.',
        }),
      ],
      {
        description: 'One text, several texts, or the parts of one message.',
        examples: ['You are a worthless idiot.'],
      },
    ),
    model: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Accepted for compatibility and ignored, because there is one classifier.',
      }),
    ),
  },
  {
    title: 'ModerationRequest',
    description: 'A request in the style of the OpenAI moderations API.',
    examples: [{ input: 'You are a worthless idiot.' }],
  },
)

const perCategory = <Schema extends Type.TSchema>(schema: Schema, description: string) =>
  Type.Object(
    Object.fromEntries(moderationCategories.map((name) => [name, schema])) as Record<ModerationCategory, Schema>,
    { description },
  )

/** An example of a value for each category. */
const forEach = <Value>(usual: Value, others: Readonly<Record<string, Value>>): Record<string, Value> => ({
  ...Object.fromEntries(moderationCategories.map((name) => [name, usual])),
  ...others,
})

export const ModerationAnswer = Type.Object(
  {
    id: text('The id of the response.', { examples: ['modr-01h455vb4pex5vsknk084sn02q'] }),
    model: Type.String({ description: 'Name of the classifier.', examples: ['gatehouse-moderation-1'] }),
    results: Type.Array(
      Type.Object(
        {
          flagged: Type.Boolean({ description: 'Whether any category is flagged.' }),
          categories: perCategory(
            flag('Whether it is flagged.'),
            'Whether the text belongs to the category. Subcategories and violence are not classified.',
          ),
          category_scores: perCategory(
            number('The score.', { minimum: 0, maximum: 1 }),
            'Scores from 0 to 1. A category is flagged from 0.5.',
          ),
          category_applied_input_types: perCategory(
            Type.Array(Type.Literal('text'), { description: 'The input types of the score.' }),
            'The input types of each score; empty for categories that are not classified.',
          ),
        },
        { title: 'ModerationResult' },
      ),
      { description: 'One result for each text, in their order.' },
    ),
  },
  {
    title: 'Moderation',
    examples: [
      {
        id: 'modr-01h455vb4pex5vsknk084sn02q',
        model: 'gatehouse-moderation-1',
        results: [
          {
            flagged: true,
            categories: forEach(false, { harassment: true }),
            category_scores: forEach(0, { harassment: 0.9998, hate: 0.1557, 'self-harm': 0.0234, sexual: 0.0005 }),
            category_applied_input_types: forEach([], {
              harassment: ['text'],
              hate: ['text'],
              illicit: ['text'],
              'self-harm': ['text'],
              sexual: ['text'],
              'sexual/minors': ['text'],
            }),
          },
        ],
      },
    ],
  },
)
