import Type, { type Static } from 'typebox'
import { maxPendingCharacters } from '../../../domain/scan/detect/detector.ts'
import { ruleEvaluators, ruleNameKinds } from '../../../domain/policy/compiled-rule.ts'
import type { InspectRule, RuleInspection } from '../../../domain/policy/inspect-rule.ts'
import { none, orNull } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { rule } from './schema.ts'

const CheckRule = Type.Object(
  { rule },
  {
    title: 'RuleCheckRequest',
    additionalProperties: false,
    examples: [{ rule: 'cel:text.contains("falcon") || pii["email"] > 3' }],
  },
)

const RuleProblem = Type.Object(
  {
    from: Type.Integer({ description: 'Start of the error in the rule, in UTF-16 code units from 0.' }),
    to: Type.Integer({ description: 'End of the error, exclusive. Equal to `from` at the end of the rule.' }),
    line: Type.Integer({ description: 'Line of the start, from 1.' }),
    column: Type.Integer({ description: 'Column of the start in characters, from 1.' }),
    message: Type.String({ description: 'What is wrong.' }),
  },
  { title: 'RuleProblem' },
)

const RuleReach = Type.Object(
  {
    whole_text: Type.Boolean({
      description:
        'True if the rule can be evaluated only on a complete text: each block of a response is then sent when the block is complete.',
    }),
    characters: orNull(
      Type.Integer(),
      'The longest match that may be pending: up to this number of characters at the end of a stream are held back. A pending match of a pattern may be longer. Null if `whole_text` is true.',
    ),
    personal_data: Type.Boolean({
      description: 'True if text also waits until no pending match of personal data is left in it.',
    }),
  },
  {
    title: 'RuleReach',
    description:
      'How much of a streamed response an enforcing policy with this rule holds back, because a match may still be incomplete.',
  },
)

const RuleCheck = Type.Object(
  {
    object: Type.Literal('organization.policy.rule_check'),
    form: Type.Enum(['cel', 'plain'], { description: '`cel` if the rule starts with `cel:`, else `plain`.' }),
    evaluable: Type.Boolean({
      description: 'Whether this service can evaluate the rule. A policy whose rule it cannot evaluate never blocks.',
    }),
    evaluated_by: orNull(
      Type.Enum([...ruleEvaluators]),
      '`expression`, `judge` (a model), or `names`: without a judge, plain language is evaluated by what it names. Null if it cannot be evaluated.',
    ),
    names: Type.Array(
      Type.Object(
        {
          kind: Type.Enum([...ruleNameKinds], { description: 'What it is.' }),
          name: Type.String({ description: 'The variable, category, kind of personal data, phrase or pattern.' }),
        },
        { title: 'RuleName' },
      ),
      { description: 'What the rule reads or names.' },
    ),
    reach: orNull(RuleReach, 'Null if the rule has problems.'),
    problems: Type.Array(RuleProblem, {
      description: 'Errors of an expression. Saving the rule would respond with 422.',
    }),
  },
  {
    title: 'RuleCheck',
    examples: [
      {
        object: 'organization.policy.rule_check',
        form: 'cel',
        evaluable: true,
        evaluated_by: 'expression',
        names: [
          { kind: 'phrase', name: 'falcon' },
          { kind: 'variable', name: 'text' },
          { kind: 'personal_data', name: 'email' },
          { kind: 'variable', name: 'pii' },
        ],
        reach: { whole_text: false, characters: 6, personal_data: true },
        problems: [],
      },
    ],
  },
)

/** `/v1/organization/policies/check`: a rule is checked before it is saved. */
export function ruleCheckRoute({ query }: AdminReads<object>, inspectRule: InspectRule): Route {
  return query({
    name: 'checkRule',
    path: '/v1/organization/policies/check',
    summary: 'Check a rule',
    description:
      'Reports how a rule would be evaluated, what it names, and its errors with their positions. An invalid rule is reported with 200. Nothing is stored or evaluated.',
    permission: 'policies:read',
    params: none,
    body: CheckRule,
    answer: { description: 'How the rule would be evaluated.', schema: RuleCheck },
    operation: async (_reads, { actor, body }) =>
      presentInspection(await inspectRule(body.rule, actor.organization.id)),
  })
}

const presentInspection = (inspection: RuleInspection): Static<typeof RuleCheck> => ({
  object: 'organization.policy.rule_check',
  form: inspection.form,
  evaluable: inspection.evaluator !== undefined,
  evaluated_by: inspection.evaluator ?? null,
  names: [...inspection.names],
  reach: reachOf(inspection),
  problems: [...inspection.problems],
})

function reachOf({ lookBehind }: RuleInspection): Static<typeof RuleCheck>['reach'] {
  if (lookBehind === undefined) return null
  if (lookBehind === 'whole' || lookBehind === 'paragraph')
    return { whole_text: true, characters: null, personal_data: false }
  const { characters, personalData, patterns } = lookBehind
  return {
    whole_text: false,
    characters: patterns ? Math.max(characters, maxPendingCharacters) : characters,
    personal_data: personalData,
  }
}
