/** The evidence of an explanation, for administrators and for callers. */
import Type, { type Static } from 'typebox'
import { checks } from '../../domain/audit/event/verdict.ts'
import { explanationEvidenceKinds, type ExplanationEvidence } from '../../domain/explanation/explanation.ts'
import { orNull } from './fields.ts'

export const EvidenceObject = Type.Object(
  {
    kind: Type.Enum([...explanationEvidenceKinds], {
      description:
        '`term`: of the denylist. `no_allowed_term`: the text has no term of the allowlist. `category`, `personal_data`, `phrase`, `pattern`, `variable`: what the rule names or reads. `expression`: a part of the expression that decided. `judge`: the judge model matched the text.',
    }),
    check: Type.Enum([...checks], { description: 'The check that acted on it.' }),
    policy_id: orNull(Type.String(), 'The policy, for the check `policy`.'),
    name: orNull(
      Type.String(),
      'The term, category, kind of personal data, phrase, pattern, variable or part of an expression. Phrases, patterns and expressions are words of a rule: null without the permission `policies:read`.',
    ),
    part: orNull(
      Type.String(),
      'The text: `messages[3]`, or `messages[3].content[0]` of messages that were sent along; `response`; `joined`, neighbouring parts read as one; `other`. Null if it is not in a text.',
    ),
    start: orNull(Type.Integer(), 'Start in this text, in UTF-16 code units from 0.'),
    end: orNull(Type.Integer(), 'End, exclusive.'),
    quote: orNull(
      Type.String(),
      'The text of this range, or the value of the variable; null unless texts are included.',
    ),
    score_bp: orNull(Type.Integer(), 'The score of a category or of the judge in basis points.'),
    value: orNull(
      Type.String(),
      'How many were found, or what the part of an expression is, with the numbers that it compares: `true, pii["email"] = 2`.',
    ),
  },
  { title: 'ExplanationEvidence', description: 'Something that a check acted on.' },
)

export type ShownEvidence = {
  readonly hasQuotes: boolean
  /** Whether the reader may read rules. */
  readonly hasRuleWords: boolean
}

const ruleWords: ReadonlySet<ExplanationEvidence['kind']> = new Set(['phrase', 'pattern', 'expression'])

export const presentEvidence = (
  { kind, check, policyId, name, part, start, end, quote, scoreBasisPoints, value }: ExplanationEvidence,
  { hasQuotes, hasRuleWords }: ShownEvidence,
): Static<typeof EvidenceObject> => {
  const isHidden = !hasRuleWords && ruleWords.has(kind)
  return {
    kind,
    check,
    policy_id: policyId,
    name: isHidden ? null : name,
    part,
    start,
    end,
    quote: hasQuotes ? quote : null,
    score_bp: scoreBasisPoints,
    value: isHidden ? null : value,
  }
}

export const evidenceExample: Static<typeof EvidenceObject> = {
  kind: 'phrase',
  check: 'policy',
  policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
  name: 'project falcon',
  part: 'messages[0]',
  start: 8,
  end: 22,
  quote: null,
  score_bp: null,
  value: null,
}
