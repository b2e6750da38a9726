import Type, { type Static } from 'typebox'
import { notReviewedReasons } from '../../../domain/judges/counts.ts'
import { integer, number, text } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'
import { listQuery } from '../../resources/list.ts'
import { policyExampleId } from '../policies/schema.ts'

const judgeExampleId = 'jdg_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const ComparisonQuery = listQuery({})

export const ComparisonObject = Type.Object(
  {
    object: Type.Literal('organization.judge.comparison'),
    judge_id: text('The judge.'),
    version: orNull(integer('The version.'), 'The version that is or was last the shadow; null if none was.'),
    compared: integer('Questions that both judges have answered.'),
    agreed: integer('Those about which they agree whether the rule matches.'),
    differed: integer('Those about which they differ.'),
    differences: Type.Array(
      Type.Object({
        id: text('The id of the difference.'),
        policy_id: text('The policy.'),
        request_id: text('The request.'),
        event_id: orNull(text('The event.'), 'Its event in the audit log; null if the log no longer has it.'),
        active_bp: integer('The score of the active judge, in basis points.'),
        shadow_bp: integer('The score of the shadow, in basis points.'),
        appeal_id: orNull(text('The appeal.'), 'The appeal in which people review the text; null if there is none.'),
        not_reviewed: orNull(
          Type.Enum([...notReviewedReasons]),
          'Why there is none: the log does not have the event, the text is not kept, there is one about this text already, or there are 20 of the last day. Null if there is one, or will be.',
        ),
        created_at: unixTime('When.'),
      }),
      { description: 'Requests of the last 30 days about which they differ. No text is stored for it.' },
    ),
    has_more: Type.Boolean({ description: 'Whether there are more; get the next ones with `after` and the last id.' }),
  },
  {
    title: 'JudgeComparison',
    examples: [
      {
        object: 'organization.judge.comparison',
        judge_id: judgeExampleId,
        version: 2,
        compared: 1_200,
        agreed: 1_176,
        differed: 24,
        differences: [
          {
            id: 'dif_01k9z8y7x6w5v4t3s2r1q0p9n8',
            policy_id: policyExampleId,
            request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n3',
            event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n2',
            active_bp: 200,
            shadow_bp: 8_700,
            appeal_id: 'apl_01k9z8y7x6w5v4t3s2r1q0p9n8',
            not_reviewed: null,
            created_at: 1_767_225_600,
          },
        ],
        has_more: true,
      },
    ],
  },
)

export const CostsQuery = Type.Object(
  { days: integer('The last days, with today.', { minimum: 1, maximum: 400, default: 30 }) },
  { additionalProperties: false },
)

const counted = {
  asked: integer('Questions that the model was called for.'),
  remembered: integer('Questions that were answered before.'),
  skipped: integer('Texts that the guard of a policy kept from the judge.'),
  failed: integer('Of those asked, those without a verdict.'),
  usd: number('What it cost, by the prices of the model.'),
}
const Counted = Type.Object(counted, { title: 'JudgeCosts', description: 'Of all days and policies.' })

const countedExample = { asked: 1_200, remembered: 300, skipped: 5_000, failed: 2, usd: 0.5 }

export const CostsObject = Type.Object(
  {
    object: Type.Literal('organization.judge.costs'),
    judge_id: text('The judge.'),
    total: Counted,
    days: Type.Array(Type.Object({ date: text('The UTC day.'), ...counted }), { description: 'The oldest first.' }),
    policies: Type.Array(
      Type.Object({
        policy_id: orNull(text('The policy.'), 'The policy; null for attempts to talk the judge round.'),
        ...counted,
      }),
      { description: 'The most expensive first.' },
    ),
  },
  {
    title: 'JudgeCostReport',
    examples: [
      {
        object: 'organization.judge.costs',
        judge_id: judgeExampleId,
        total: countedExample,
        days: [{ date: '2026-01-01', ...countedExample }],
        policies: [{ policy_id: policyExampleId, ...countedExample }],
      },
    ],
  },
)

export type CostsBody = Static<typeof CostsObject>
export type ComparisonBody = Static<typeof ComparisonObject>
