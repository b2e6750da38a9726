import Type, { type Static } from 'typebox'
import { flag, integer, text } from '../../described.ts'
import { changesWithExamples } from '../../../domain/evaluation/backtest/counts.ts'
import { policyFields } from '../../../domain/policy/content.ts'
import {
  backtestExampleId as exampleId,
  backtestId,
  count,
  coverage,
  endFields,
  eventChoiceFields,
  progressFields,
} from '../../resources/backtests.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { PolicyParams, rule } from './schema.ts'

const policyExampleId = 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'
const projectExampleId = 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'
const eventExampleId = 'evt_01k9z8y7x6w5v4t3s2r1q0p9n2'
const requestExampleId = 'req_01k9z8y7x6w5v4t3s2r1q0p9n3'

const { minimum, maximum } = policyFields.matchThresholdBasisPoints
const threshold = Type.Integer({ minimum, maximum })

export const CreateBacktest = Type.Object(
  {
    ...eventChoiceFields,
    changes: Type.Optional(
      Type.Object(
        {
          rule: Type.Optional(rule),
          match_threshold_basis_points: Type.Optional(
            Type.Integer({ minimum, maximum, description: 'The score from which the rule matches.' }),
          ),
        },
        {
          additionalProperties: false,
          minProperties: 1,
          description: 'Fields of the draft to replace for this backtest only. The draft stays as it is.',
        },
      ),
    ),
    thresholds: Type.Optional(
      Type.Array(threshold, {
        minItems: 1,
        maxItems: 20,
        description: 'Thresholds to compare, in basis points. Default: 1000, 2000 … 9000.',
      }),
    ),
  },
  {
    title: 'BacktestCreate',
    additionalProperties: false,
    examples: [
      { limit: 5000, thresholds: [4000, 5000, 6000] },
      { changes: { match_threshold_basis_points: 9300 } },
      {},
    ],
  },
)

export const BacktestParams = Type.Object({
  ...PolicyParams.properties,
  backtest_id: idText('The backtest.', exampleId),
})

const counts = {
  newly_blocked: count('Allowed then, blocked by the draft.'),
  newly_allowed: count('Blocked by this policy then, not by the draft.'),
  changed_reason: count('Blocked by something else then, and by the draft too.'),
  unchanged: count('The draft makes no difference.'),
  not_evaluated: count('The draft’s rule could not be evaluated.'),
}

const eventIds = Type.Array(Type.String(), { description: 'Ids of events in the audit log, at most twenty.' })

const Result = Type.Object(
  {
    threshold_basis_points: Type.Integer({
      description: 'The threshold of the draft. All results except the sweep use it.',
    }),
    ...counts,
    projects: Type.Array(
      Type.Object({ project_id: orNull(text('The project; null for requests without one.')), ...counts }),
      { description: 'The same counts for each project.' },
    ),
    sweep: Type.Array(
      Type.Object({
        threshold_basis_points: integer('The threshold.'),
        blocked: count('Blocked by the draft.'),
        newly_blocked: counts.newly_blocked,
        newly_allowed: counts.newly_allowed,
      }),
      { description: 'Results for the other thresholds.' },
    ),
    scores: Type.Array(
      Type.Object({
        from_basis_points: integer('The first score of the range, which is 100 wide.'),
        allowed: count('Allowed then. A threshold up to this score blocks them.'),
        blocked_by_policy: count('Blocked by this policy then. A threshold above this score allows them.'),
        other: count('No threshold changes what happens to them: something else blocked them.'),
      }),
      {
        description:
          'How many requests got which score, for ranges with at least one. Requests without a score are left out. For every threshold that is a multiple of 100, the counts of the sweep follow from it.',
      },
    ),
    coverage,
    examples: Type.Object(
      {
        newly_blocked: eventIds,
        newly_allowed: eventIds,
        changed_reason: eventIds,
        not_evaluated: eventIds,
      },
      { description: 'Events to look at, for each kind of difference.' },
    ),
    example_requests: Type.Array(
      Type.Object({
        event_id: text('The event in the audit log.'),
        request_id: orNull(text('The request.')),
        project_id: orNull(text('Its project.')),
        change: Type.Enum([...changesWithExamples], { description: 'What the draft would change.' }),
        score_basis_points: integer('The score that the draft gives it.'),
      }),
      { description: 'The same examples as requests, with their scores.' },
    ),
  },
  { title: 'BacktestResult' },
)

const countsExample = { newly_blocked: 2, newly_allowed: 0, changed_reason: 1, unchanged: 917, not_evaluated: 0 }

const backtestExample = {
  id: exampleId,
  object: 'organization.policy.backtest',
  policy_id: policyExampleId,
  revision: 3,
  has_changes: false,
  status: 'completed',
  progress: { done: 1000, total: 1000 },
  from: 1_766_620_800,
  to: 1_767_225_600,
  limit: 1000,
  sample_percent: 100,
  result: {
    threshold_basis_points: 5000,
    ...countsExample,
    projects: [{ project_id: projectExampleId, ...countsExample }],
    sweep: [{ threshold_basis_points: 5000, blocked: 3, newly_blocked: 2, newly_allowed: 0 }],
    scores: [
      { from_basis_points: 0, allowed: 916, blocked_by_policy: 0, other: 1 },
      { from_basis_points: 8800, allowed: 2, blocked_by_policy: 0, other: 1 },
    ],
    coverage: { events: 1000, sampled: 1000, with_text: 920, redacted_only: 0, from_sample: 0 },
    examples: {
      newly_blocked: [eventExampleId],
      newly_allowed: [],
      changed_reason: [],
      not_evaluated: [],
    },
    example_requests: [
      {
        event_id: eventExampleId,
        request_id: requestExampleId,
        project_id: projectExampleId,
        change: 'newly_blocked',
        score_basis_points: 8850,
      },
    ],
  },
  error: null,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_612,
}

/** A backtest after it was cancelled. */
export const cancelledExample = {
  ...backtestExample,
  status: 'cancelled',
  progress: { done: 350, total: 1000 },
  result: null,
  error: 'It was cancelled.',
}

export const Backtest = Type.Object(
  {
    id: backtestId,
    object: Type.Literal('organization.policy.backtest'),
    policy_id: text('The policy whose draft is replayed.'),
    revision: Type.Integer({ description: 'The revision of the policy whose draft is replayed.' }),
    has_changes: flag('Whether it replaced fields of the draft for itself.'),
    ...progressFields,
    result: orNull(Result, 'Null until the backtest is completed.'),
    ...endFields,
  },
  {
    title: 'Backtest',
    examples: [backtestExample],
  },
)

export const BacktestList = listOf('BacktestList', Backtest, pageExample(backtestExample))

export type BacktestBody = Static<typeof Backtest>
