import Type, { type Static } from 'typebox'
import { checks, decisions } from '../../domain/audit/event/verdict.ts'
import type { Outcome as CheckOutcome } from '../../domain/evaluation/verdict/outcomes.ts'
import { orNull } from './fields.ts'

export const outcomeFields = {
  check: Type.Enum([...checks], {
    description:
      '`always_blocked` and `requested`: moderation categories. `gateway`: the gateway configuration. `prompt_injection`: its search for prompt injections, listed only if one was found. `policy`: one policy.',
  }),
  policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the configuration.'),
  version: orNull(Type.Integer(), 'The version that was evaluated; null for one that is not saved or published.'),
  decision: Type.Enum([...decisions], { description: 'The decision of this check.' }),
  effective_decision: Type.Enum([...decisions], {
    description: 'What of it takes effect; `allow` if it is not enforced.',
  }),
  enforced: Type.Boolean({ description: 'False in shadow or monitoring: the decision would only be recorded.' }),
  reason_code: Type.String({ description: 'The reason code of the decision.' }),
  triggered_categories: Type.Array(Type.String(), { description: 'Categories that led to the decision.' }),
  exception_id: orNull(
    Type.String(),
    'The exception because of which a policy that denies is not enforced; null without one.',
  ),
  not_evaluated: orNull(
    Type.String(),
    'Why a rule has no decision, such as `rule_not_evaluable`, `judge_not_asked`, `expression_cost`, `denied_earlier`, `other_project` or `other_direction`; null if it has one.',
  ),
}

/** The result of one check. */
export const Outcome = Type.Object(outcomeFields, { title: 'CheckResult' })

export const outcomeExample: Static<typeof Outcome> = {
  check: 'gateway',
  policy_id: 'default',
  version: 3,
  decision: 'refuse',
  effective_decision: 'refuse',
  enforced: true,
  reason_code: 'REFUSE',
  triggered_categories: [],
  exception_id: null,
  not_evaluated: null,
}

export const presentOutcome = (outcome: CheckOutcome): Static<typeof Outcome> => ({
  check: outcome.check,
  policy_id: outcome.policyId,
  version: outcome.version === 0 ? null : outcome.version,
  decision: outcome.decision,
  effective_decision: outcome.isEnforced ? outcome.effect : 'allow',
  enforced: outcome.isEnforced,
  reason_code: outcome.reasonCode,
  triggered_categories: [...outcome.triggeredCategories],
  exception_id: outcome.exceptionId ?? null,
  not_evaluated: outcome.notEvaluated ?? null,
})
