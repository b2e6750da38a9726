import Type, { type Static } from 'typebox'
import { calibrationKinds, calibrationStatuses } from '../../../domain/judges/calibration.ts'
import { flag, integer, number, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { policyExampleId } from '../policies/schema.ts'

export const calibrationExampleId = 'cal_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const CalibrationParams = Type.Object({
  judge_id: idText('The judge, or `file` for the one of the configuration.', 'jdg_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  calibration_id: idText('The calibration.', calibrationExampleId),
})

const share = (description: string) =>
  Type.Object(
    {
      found: integer('How many.'),
      of: integer('Of how many.'),
      share_bp: integer('The share, in basis points.'),
      at_least_bp: integer('The exact lower bound at a confidence of 95 %, in basis points.'),
      at_most_bp: integer('The exact upper bound at a confidence of 95 %, in basis points.'),
    },
    { title: 'BoundedShare', description },
  )

export const reportFields = {
  labels: integer('Labels by people that the judge was asked about, and gave an answer to.'),
  self_agreement: share('How often it said the same when it was asked again.'),
  consistent: flag('False: it agrees with itself on less than 90 % of the labels, so the other figures say nothing.'),
  agreement_bp: integer('How often it agrees with people, in basis points.'),
  base_rate_bp: integer(
    'How many of the labels should match, in basis points. With few of them a judge that never matches agrees often, too.',
  ),
  kappa: orNull(
    number('Cohen’s kappa.'),
    'Cohen’s kappa: the agreement beyond chance. 1 is full agreement, 0 is chance. Null if the labels and the answers are all of one kind.',
  ),
  true_positives: share('Of the texts that should match, those that it finds.'),
  true_negatives: share('Of the texts that should not match, those that it lets pass.'),
  injections: Type.Object(
    { passed: integer('Those that it withstood.'), of: integer('All attempts.') },
    { description: 'Texts that break a rule and try to talk it round.' },
  ),
  failures: Type.Object(
    { found: integer('Questions without a verdict.'), of: integer('All questions.') },
    { description: 'How often it failed.' },
  ),
  p95_ms: integer('95 % of its answers took at most this long.'),
  usd: number('What the calibration cost.'),
  usd_per_1000: number('What 1,000 questions cost.'),
  disagreements: Type.Array(
    Type.Object(
      {
        policy_id: text('The policy.'),
        count: integer('Labels on which it disagrees with people.'),
        labels: integer('All labels of the policy.'),
        cases: Type.Array(
          Type.Object({
            case_id: text('The case.'),
            expected: text('What people expect: `match` or `no_match`.'),
            got: text('What the judge says.'),
            score_bp: integer('Its score, in basis points.'),
          }),
          { description: 'The first twenty.' },
        ),
      },
      { title: 'JudgeDisagreement' },
    ),
    { description: 'By rule, the most first. The wording of the rule is usually what has to change.' },
  ),
}

const Report = Type.Object(reportFields, { title: 'JudgeCalibrationReport' })

const bounded = (found: number, of: number, [atLeast, atMost]: readonly [number, number]) => ({
  found,
  of,
  share_bp: Math.round((found / of) * 10_000),
  at_least_bp: atLeast,
  at_most_bp: atMost,
})

export const calibrationExample = {
  id: calibrationExampleId,
  object: 'organization.judge.calibration',
  judge_id: 'jdg_01k9z8y7x6w5v4t3s2r1q0p9n8',
  version: 1,
  subject: 'gatehouse-echo@3d0f5c2b5f0f',
  kind: 'calibration',
  status: 'completed',
  done: 220,
  total: 220,
  left_out: 0,
  error: null,
  report: {
    labels: 80,
    self_agreement: bounded(79, 80, [9_422, 9_994]),
    consistent: true,
    agreement_bp: 9_250,
    base_rate_bp: 5_000,
    kappa: 0.85,
    true_positives: bounded(36, 40, [7_866, 9_650]),
    true_negatives: bounded(38, 40, [8_510, 9_911]),
    injections: { passed: 60, of: 60 },
    failures: { found: 0, of: 220 },
    p95_ms: 620,
    usd: 0.09,
    usd_per_1000: 0.41,
    disagreements: [
      {
        policy_id: policyExampleId,
        count: 4,
        labels: 50,
        cases: [{ case_id: 'case_01k9z8y7x6w5v4t3s2r1q0p9n8', expected: 'match', got: 'no_match', score_bp: 2_000 }],
      },
    ],
  },
  created_by: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

export const CalibrationObject = Type.Object(
  {
    id: text('The id of the calibration.'),
    object: Type.Literal('organization.judge.calibration'),
    judge_id: text('The judge.'),
    version: integer('Its version; 0 for the judge of the configuration.'),
    subject: text('The model and a digest of the prompt.'),
    kind: Type.Enum([...calibrationKinds], {
      description: '`drift`: the check of an active judge, each night, on the same 50 labels.',
    }),
    status: Type.Enum([...calibrationStatuses], { description: 'How far it is.' }),
    done: integer('Answers that it has.'),
    total: integer('Answers that it needs.'),
    left_out: integer('Labels that no person gave, which do not count.'),
    error: orNull(text('Why.'), 'Why it failed, was cancelled or waits; null otherwise.'),
    report: orNull(Report, 'What it found; null until it is completed.'),
    created_by: orNull(text('Who.'), 'Who started it; null for the service itself.'),
    created_at: unixTime('When it was started.'),
    updated_at: unixTime('Time of the last progress.'),
  },
  { title: 'JudgeCalibration', examples: [calibrationExample] },
)

export const CalibrationList = listOf('JudgeCalibrationList', CalibrationObject, pageExample(calibrationExample))

export type CalibrationBody = Static<typeof CalibrationObject>
