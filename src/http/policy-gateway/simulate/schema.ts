import Type from 'typebox'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { rolloutModes } from '../../../domain/gateway-config/rollout.ts'
import { perCategory } from '../../../domain/moderation/categories.ts'
import { textDirections } from '../../../domain/moderation/classifier.ts'
import { idText } from '../../resources/fields.ts'
import { Given } from '../config/schema.ts'

const strict = { additionalProperties: false }

const categoryNames = (description: string) =>
  Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100, description })

const Message = Type.Object(
  {
    role: Type.Optional(Type.String({ maxLength: 200 })),
    content: Type.Union([Type.String(), Type.Array(Type.Object({})), Type.Null()]),
  },
  { description: 'A message as it is sent to a model: a text, or blocks.' },
)

const Scenario = Type.Object(
  {
    categories: Type.Optional(
      categoryNames('Categories that count as found. A name that is not a category of moderation triggers nothing.'),
    ),
    messages: Type.Optional(Type.Array(Message, { maxItems: 1_000, description: 'Screened as those of a request.' })),
    text: Type.Optional(Type.String({ description: 'A text to screen.' })),
    direction: Type.Optional(
      Type.Enum([...textDirections], {
        description: 'Whether the texts go to a model (the default) or come from it.',
      }),
    ),
    user: Type.Optional(idText('The end user, who decides on which side of a canary the request falls.', 'ada')),
    target: Type.Optional(idText('What would be sent in `X-Policy-Target`.', 'eu')),
  },
  { ...strict, description: 'What is imagined to be said.' },
)

export const SimulateBody = Type.Object(
  {
    policy: Type.Optional(Given),
    config: Type.Optional(Given),
    scenario: Type.Optional(Scenario),
    categories: Type.Optional(categoryNames('The same as `scenario.categories`, where that is not given.')),
    persist: Type.Optional(
      Type.Boolean({
        description:
          'Saves the configuration that was evaluated, and shows the run in the history. Needs the permission `gateway:write`.',
      }),
    ),
  },
  {
    ...strict,
    examples: [
      {
        config: { rules: { denylist: ['project x'], flagged_categories: ['hate'] } },
        scenario: { text: 'What is Project X about?' },
      },
    ],
  },
)

export const SimulateAnswer = Type.Object(
  {
    decision: Type.Enum([...decisions], { description: 'What the configuration says.' }),
    reason_code: Type.String({ description: 'The decision in capitals, or the own code that begins with it.' }),
    triggered_categories: Type.Array(Type.String()),
    rollout_mode: Type.Enum([...rolloutModes], {
      description: 'How the configuration holds for this user and target.',
    }),
    policy_id: Type.String(),
    effective_decision: Type.Enum([...decisions], { description: 'What would be done, after the rollout.' }),
    enforced: Type.Boolean({ description: 'False where the decision would only be recorded.' }),
    allowlist_hits: Type.Array(Type.String()),
    denylist_hits: Type.Array(Type.String()),
    redactions: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many pieces of personal data would be replaced, by kind.',
    }),
    scores: Type.Record(Type.String(), Type.Number(), {
      description: 'What moderation says about the texts, from 0 to 1 for each category; 0 without any text.',
    }),
  },
  {
    examples: [
      {
        decision: 'refuse',
        reason_code: 'REFUSE',
        triggered_categories: [],
        rollout_mode: 'enforced',
        policy_id: 'default',
        effective_decision: 'refuse',
        enforced: true,
        allowlist_hits: [],
        denylist_hits: ['project x'],
        redactions: {},
        scores: perCategory(() => 0.01),
      },
    ],
  },
)
