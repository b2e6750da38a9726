import Type from 'typebox'
import { text, texts } from '../../described.ts'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { rolloutModes } from '../../../domain/gateway-config/rollout.ts'
import { perCategory } from '../../../domain/scan/classify/categories.ts'
import { idText } from '../../resources/fields.ts'
import { GivenConfigurationBody } from '../../resources/gateway-configuration.ts'
import { Outcome, outcomeExample } from '../../resources/outcome.ts'
import { scenarioFields } from '../../resources/scenario.ts'
import { ConfigurationWarnings } from '../config/schema.ts'

const strict = { additionalProperties: false }

const categoryNames = (description: string) =>
  Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100, description })

const Scenario = Type.Object(
  {
    categories: Type.Optional(
      categoryNames('Categories to treat as found. Names that are not moderation categories are ignored.'),
    ),
    ...scenarioFields,
  },
  { title: 'SimulationScenario', ...strict, description: 'The simulated request or response.' },
)

export const SimulateBody = Type.Object(
  {
    policy: Type.Optional(GivenConfigurationBody),
    config: Type.Optional(GivenConfigurationBody),
    scenario: Type.Optional(Scenario),
    categories: Type.Optional(categoryNames('Used if `scenario.categories` is absent.')),
    policies: Type.Optional(
      Type.Boolean({
        description:
          'Whether the policies of the organization that would apply are evaluated as well. Default: true. False: only the configuration.',
      }),
    ),
    policy_ids: Type.Optional(
      Type.Array(idText('A policy of the organization.', 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'), {
        maxItems: 100,
        description:
          'Policies that apply in addition, as with the header `X-Policy-Id`. Of a policy that is not in force the draft is evaluated, which needs the permission `policies:read`.',
      }),
    ),
    judge: Type.Optional(
      Type.Boolean({
        description:
          'Whether the judge model is called for rules in plain language, which has a cost. Default: true. False: these rules are reported as `not_evaluated`.',
      }),
    ),
    persist: Type.Optional(
      Type.Boolean({
        description:
          'Saves the configuration that was evaluated, and shows the run in the history. Needs the permission `gateway:write`. Responds with 409 `gate_not_passed` if the publish gate requires more.',
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
    decision: Type.Enum([...decisions], { description: 'The strongest decision of all checks.' }),
    reason_code: Type.String({
      description: 'The decision in capitals, or the custom reason code that starts with it.',
    }),
    triggered_categories: texts('The categories that matched.'),
    rollout_mode: Type.Enum([...rolloutModes], {
      description:
        'How the rule that decided applies: of a policy, its mode; else how the configuration applies to this user and target.',
    }),
    policy_id: text('The policy that decided, or the `policy_id` of the configuration.'),
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
    results: Type.Array(Outcome, { description: 'The result of each check, in the order of evaluation.' }),
    warnings: ConfigurationWarnings,
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
        results: [outcomeExample],
        warnings: [],
      },
    ],
  },
)
