import Type from 'typebox'
import { moderationCategories } from '../../wire/openai-moderations.ts'

const mostInputs = 256

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() })
const ImagePart = Type.Object({ type: Type.Literal('image_url'), image_url: Type.Object({ url: Type.String() }) })

export const ModerationBody = Type.Object(
  {
    input: Type.Union(
      [
        Type.String({ description: 'One text.' }),
        Type.Array(Type.String(), {
          minItems: 1,
          maxItems: mostInputs,
          description: 'Texts, each with a result of its own.',
        }),
        Type.Array(Type.Union([TextPart, ImagePart]), {
          minItems: 1,
          maxItems: mostInputs,
          description: 'Parts of one message, with one result. Images are not read, and refused.',
        }),
      ],
      { examples: ['I want to kill them.'] },
    ),
    model: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Taken for the sake of clients that send it; there is one classifier.',
      }),
    ),
  },
  {
    description: 'A request in the style of the OpenAI moderations API.',
    examples: [{ input: ['I want to kill them.', 'Good morning.'] }],
  },
)

const perCategory = <Schema extends Type.TSchema>(schema: Schema, description: string) =>
  Type.Record(Type.Enum(moderationCategories), schema, { description })

export const ModerationAnswer = Type.Object({
  id: Type.String({ examples: ['modr-01h455vb4pex5vsknk084sn02q'] }),
  model: Type.String({ description: 'Who judged.', examples: ['gatehouse-moderation-1'] }),
  results: Type.Array(
    Type.Object({
      flagged: Type.Boolean({ description: 'Whether any category is.' }),
      categories: perCategory(
        Type.Boolean(),
        'Whether the text falls into it. Finer categories and violence are not judged.',
      ),
      category_scores: perCategory(Type.Number({ minimum: 0, maximum: 1 }), 'From 0 to 1; flagged from one half on.'),
      category_applied_input_types: perCategory(
        Type.Array(Type.Literal('text')),
        'What each score was made from; empty for categories that are not judged.',
      ),
    }),
  ),
})
