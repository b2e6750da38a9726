import Type from 'typebox'
import { text, texts } from '../../described.ts'
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
    role: Type.Optional(text('Who the message is from.', { maxLength: 200 })),
    content: Type.Union([Type.String(), Type.Array(Type.Object({})), Type.Null()], {
      description: 'A text, or blocks.',
    }),
  },
  { title: 'SimulatedMessage', description: 'A message as it is sent to a model: a text, or blocks.' },
)

const Scenario = Type.Object(
  {
    categories: Type.Optional(
      categoryNames('Categories to treat as found. Names that are not moderation categories are ignored.'),
    ),
    messages: Type.Optional(
      Type.Array(Message, { maxItems: 1_000, description: 'Scanned like the messages of a request.' }),
    ),
    text: Type.Optional(Type.String({ description: 'A text to scan.' })),
    direction: Type.Optional(
      Type.Enum([...textDirections], {
        description: 'Whether the texts are sent to a model (the default) or come from it.',
      }),
    ),
    user: Type.Optional(idText('The end user, which determines the side of a canary.', 'ada')),
    target: Type.Optional(idText('The value of the header `X-Policy-Target`.', 'eu')),
  },
  { title: 'SimulationScenario', ...strict, description: 'The simulated request or response.' },
)

export const SimulateBody = Type.Object(
  {
    policy: Type.Optional(Given),
    config: Type.Optional(Given),
    scenario: Type.Optional(Scenario),
    categories: Type.Optional(categoryNames('Used if `scenario.categories` is absent.')),
    persist: Type.Optional(
      Type.Boolean({
        description:
          'Saves the configuration that was evaluated, and shows the run in the history. Needs the permission `gateway:write`.',
      }),
    ),
  },
  {
    title: 'SimulationRequest',
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
    decision: Type.Enum([...decisions], { description: 'The decision of the configuration.' }),
    reason_code: Type.String({
      description: 'The decision in capitals, or the custom reason code that starts with it.',
    }),
    triggered_categories: texts('The categories that matched.'),
    rollout_mode: Type.Enum([...rolloutModes], {
      description: 'How the configuration applies to this user and target.',
    }),
    policy_id: text('The `policy_id` of the configuration.'),
    effective_decision: Type.Enum([...decisions], { description: 'The decision after the rollout is applied.' }),
    enforced: Type.Boolean({ description: 'False if the decision would only be recorded.' }),
    allowlist_hits: texts('The terms of the allowlist that matched.'),
    denylist_hits: texts('The terms of the denylist that matched.'),
    redactions: Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of replaced occurrences of personal data, by kind.',
    }),
    scores: Type.Record(Type.String(), Type.Number(), {
      description: 'Moderation scores of the texts, from 0 to 1 for each category; 0 without any text.',
    }),
  },
  {
    title: 'Simulation',
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
