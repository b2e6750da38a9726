import { secondStages } from '../../../domain/scan/classify/classifier.ts'
import Type, { type Static } from 'typebox'
import { rolloutModes } from '../../../domain/gateway-config/rollout.ts'
import { evidenceKinds, maxEvidence } from '../../../domain/evaluation/evidence.ts'

import { perCategory } from '../../../domain/scan/classify/categories.ts'
import { checks, decisions } from '../../../domain/audit/event/verdict.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { GivenConfigurationBody } from '../../resources/gateway-configuration.ts'
import { outcomeExample, outcomeFields } from '../../resources/outcome.ts'
import { scenarioFields } from '../../resources/scenario.ts'
import { policyExampleId, triedContent } from '../policies/schema.ts'

const strict = { additionalProperties: false }
const inForce = Type.Literal('in_force')

const StoredPolicy = Type.Object(
  {
    policy_id: idText('A policy of the organization.', policyExampleId),
    use: Type.Enum(['draft', 'published', 'none'], {
      description: 'Which content of it: the draft, or the current version. `none`: it is not evaluated.',
    }),
  },
  { ...strict, title: 'EvaluatedPolicy', description: 'A stored policy. It replaces the one in force.' },
)

const PolicyContent = Type.Object(triedContent, {
  ...strict,
  title: 'EvaluatedPolicyContent',
  description: 'A policy that is not stored. Its `policy_id` in the response is its place: `policies[0]`.',
})

export const EvaluateBody = Type.Object(
  {
    gateway: Type.Optional(
      Type.Union([inForce, GivenConfigurationBody], {
        description: 'The gateway configuration to evaluate: the one in force (the default), or another one.',
      }),
    ),
    policies: Type.Optional(
      Type.Union([inForce, Type.Array(Type.Union([inForce, StoredPolicy, PolicyContent]), { maxItems: 100 })], {
        description:
          'The policies to evaluate: those in force (the default), or a list. In a list, `in_force` stands for all that are in force. A policy of the list applies as it would to a request: by its direction and, if its scope is `projects`, by `scenario.project_id`. One with the scope `unattached` applies.',
      }),
    ),
    judge: Type.Optional(
      Type.Boolean({
        description:
          'Whether the judge model is called for rules in plain language, as for a request, which has a cost. Default: true. False: these rules are `not_evaluated`, and the verdict may differ from that of a request.',
      }),
    ),
    scenario: Type.Object(scenarioFields, {
      ...strict,
      title: 'EvaluationScenario',
      description: 'The request or response. It needs a `text` or `messages`.',
    }),
  },
  {
    ...strict,
    title: 'EvaluationRequest',
    examples: [
      {
        policies: ['in_force', { policy_id: policyExampleId, use: 'draft' }],
        scenario: { text: 'What is Project Falcon?' },
      },
      {
        gateway: { rules: { denylist: ['project falcon'] } },
        policies: [{ rule: 'No card numbers.', mode: 'enforcing' }],
        scenario: { text: 'My card is 4111 1111 1111 1111.', direction: 'request', user: 'ada' },
      },
    ],
  },
)

const basisPoints = (description: string) => orNull(Type.Integer(), description)

const EvaluationOutcome = Type.Object(
  {
    ...outcomeFields,
    name: orNull(Type.String(), 'The name of the policy or of the configuration.'),
    score_bp: basisPoints('The highest score of a text in basis points; null for a check without scores.'),
    threshold_bp: basisPoints('The score from which the check matches.'),
  },
  { title: 'EvaluationOutcome' },
)

const place = (description: string) => orNull(Type.Integer(), description)

const EvaluationEvidence = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check that acted on it.' }),
    policy_id: orNull(Type.String(), 'The policy, for the check `policy`.'),
    kind: Type.Enum([...evidenceKinds], {
      description:
        '`term`: of the denylist. `no_allowed_term`: the text has no term of the allowlist. `category`, `personal_data`, `phrase`, `pattern`, `variable`: what the rule names or reads. `judge`: the judge model matched the text.',
    }),
    name: Type.String({ description: 'The term, category, kind of personal data, phrase, pattern or variable.' }),
    where: orNull(
      Type.Object(
        {
          kind: Type.Enum(['part', 'joined', 'other'], {
            description:
              '`part`: one part of a message. `joined`: neighbouring parts read as one text. `other`: another field of a message.',
          }),
          message: place('Index of the message; `scenario.text` is the last message.'),
          part: place('Index of the part in the message; a text is part 0.'),
        },
        { title: 'TextPlace' },
      ),
      'The text that contains it; null if it is not in a text.',
    ),
    start: place('Start in the text of `where`, in UTF-16 code units from 0.'),
    end: place('End, exclusive.'),
    text: orNull(Type.String(), 'The text of this range, or the value of the variable.'),
    score_bp: basisPoints('The score of a category or of the judge in basis points.'),
  },
  {
    title: 'EvaluationEvidence',
    description:
      'Something that a check acted on. For an expression: what it reads that is in the text, which need not be what decided.',
  },
)

const milliseconds = (description: string) => Type.Number({ minimum: 0, description })

export const EvaluationObject = Type.Object(
  {
    object: Type.Literal('organization.evaluation'),
    verdict: Type.Object(
      {
        decision: Type.Enum([...decisions], { description: 'The strongest decision of all checks.' }),
        effective_decision: Type.Enum([...decisions], { description: 'What would happen to the request or response.' }),
        enforced: Type.Boolean({ description: 'False if the decision would only be recorded.' }),
        rollout_mode: Type.Enum([...rolloutModes], { description: 'How the deciding check applies.' }),
        reason_code: Type.String({ description: 'The reason code of the decision.' }),
        check: orNull(Type.Enum([...checks]), 'The deciding check; null if every check allows the text.'),
        policy_id: orNull(Type.String(), 'The policy or configuration that decided.'),
        version: orNull(Type.Integer(), 'Its version; null for one that is not saved or published.'),
        triggered_categories: Type.Array(Type.String(), { description: 'Categories that led to the decision.' }),
      },
      { title: 'EvaluationVerdict', description: 'The `policy` object that a request would get.' },
    ),
    outcomes: Type.Array(EvaluationOutcome, { description: 'The result of each check, in the order of evaluation.' }),
    evidence: Type.Array(EvaluationEvidence, {
      description: `What the checks acted on, and where it is. At most ${maxEvidence} entries.`,
    }),
    scores: Type.Record(Type.String(), Type.Number(), {
      description: 'The highest moderation score of each category, from 0 to 1.',
    }),
    stage: Type.Enum(['linear', ...secondStages], {
      description:
        'The stage of the classifier that decided. `linear`: the first, which needed no second. `encoder`, `remote`: the encoder or the moderation endpoint. The others: the first stage, because the second was late or failed.',
    }),
    timings: Type.Object(
      {
        rules_ms: milliseconds('Loading and compiling the rules.'),
        evaluation_ms: milliseconds('Scanning the texts and evaluating the rules, without any cache of texts.'),
        evidence_ms: milliseconds('Finding the evidence, which a request does not do.'),
      },
      { title: 'EvaluationTimings', description: 'How long it took, in milliseconds.' },
    ),
  },
  {
    title: 'Evaluation',
    examples: [
      {
        object: 'organization.evaluation',
        verdict: {
          decision: 'refuse',
          effective_decision: 'refuse',
          enforced: true,
          rollout_mode: 'enforced',
          reason_code: 'REFUSE',
          check: 'gateway',
          policy_id: 'default',
          version: 3,
          triggered_categories: [],
        },
        outcomes: [{ ...outcomeExample, name: 'Default rules', score_bp: null, threshold_bp: null }],
        evidence: [
          {
            check: 'gateway',
            policy_id: null,
            kind: 'term',
            name: 'project falcon',
            where: { kind: 'part', message: 0, part: 0 },
            start: 8,
            end: 22,
            text: 'Project Falcon',
            score_bp: null,
          },
        ],
        scores: perCategory(() => 0.01),
        stage: 'linear',
        timings: { rules_ms: 0.1, evaluation_ms: 1.2, evidence_ms: 0.4 },
      },
    ],
  },
)

export type EvaluationBody = Static<typeof EvaluationObject>
