import Type, { type Static } from 'typebox'
import { calibrationKinds, calibrationStatuses, nothingLeftOut } from '../../../domain/judges/calibration.ts'
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

const figures = {
  labels: integer('Labels by people that the judge was asked about, and gave an answer to.'),
  agreement_bp: integer('How often it agrees with people, in basis points.'),
  base_rate_bp: integer(
    'How many of the labels should match, in basis points. With few of them a judge that never matches agrees often, too.',
  ),
  kappa: orNull(
    number('Cohen’s kappa.'),
    'Cohen’s kappa: the agreement beyond chance. 1 is full agreement, 0 is chance. Null if the labels and the answers are all of one kind.',
  ),
}

const Figures = (description: string) => Type.Object(figures, { title: 'JudgeLabelFigures', description })

const disagreed = {
  expected: text('What people expect: `match` or `no_match`.'),
  got: text('What the judge says.'),
  score_bp: integer('Its score, in basis points.'),
}

export const reportFields = {
  ...figures,
  self_agreement: share('How often it said the same when it was asked again.'),
  consistent: flag('False: it agrees with itself on less than 90 % of the labels, so the other figures say nothing.'),
  by_source: Type.Object(
    { cases: Figures('Of the cases of policies.'), appeals: Figures('Of the labels of appeals.') },
    { title: 'JudgeLabelSources', description: 'The same figures apart for cases and for labels of appeals.' },
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
          Type.Object({ case_id: text('The case.'), ...disagreed }, { title: 'JudgeDisagreementOnCase' }),
          { description: 'The cases among the first twenty disagreements.' },
        ),
        appeals: Type.Array(
          Type.Object({ appeal_id: text('The appeal.'), ...disagreed }, { title: 'JudgeDisagreementOnAppeal' }),
          { description: 'The appeals among them.' },
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
  left_out: 3,
  left_out_by: { ...nothingLeftOut, repeated: 2, unsure: 1 },
  error: null,
  report: {
    labels: 80,
    self_agreement: bounded(79, 80, [9_422, 9_994]),
    consistent: true,
    agreement_bp: 9_250,
    base_rate_bp: 5_000,
    kappa: 0.85,
    by_source: {
      cases: { labels: 60, agreement_bp: 9_333, base_rate_bp: 5_000, kappa: 0.867 },
      appeals: { labels: 20, agreement_bp: 9_000, base_rate_bp: 5_000, kappa: 0.8 },
    },
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
        appeals: [],
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
    left_out: integer('Labelled texts that do not count.'),
    left_out_by: Type.Object(
      {
        not_by_person: integer('Cases from a replay, with what the draft said.'),
        unsure: integer('Appeals about whose text nobody is sure.'),
        disagreeing: integer('Appeals about whose text people disagree: another person has to label it.'),
        dismissed: integer('Appeals that were dismissed.'),
        repeated: integer('Appeals whose text is asked about already, as a case or for another appeal.'),
        without_text: integer('Appeals whose text is not kept.'),
        over_limit: integer('Those above 2,000 cases, or above the newest 500 appeals.'),
      },
      { title: 'JudgeLabelsLeftOut', description: 'The same by reason.' },
    ),
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
