import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  addReplayedEvent,
  changeOf,
  noBacktestCounts,
  noScores,
  scoreClasses,
  scoreRange,
  type ReplayedEvent,
  type ReplayResult,
} from './counts.ts'

const replayed = (fields: Partial<ReplayResult>): ReplayResult => ({
  score: 0,
  isNotEvaluated: false,
  wasBlocked: false,
  wasBlockedByPolicy: false,
  isRedacted: false,
  ...fields,
})

const byPolicy = { wasBlocked: true, wasBlockedByPolicy: true }
const byOther = { wasBlocked: true, wasBlockedByPolicy: false }

describe('the change of one request under a draft', () => {
  const cases: { title: string; past: Partial<ReplayResult>; expected: string }[] = [
    { title: 'a score below the threshold changes nothing', past: { score: 4999 }, expected: 'unchanged' },
    { title: 'a score at the threshold blocks the request', past: { score: 5000 }, expected: 'newly_blocked' },
    {
      title: 'a request that this policy blocked stays blocked',
      past: { score: 9000, ...byPolicy },
      expected: 'unchanged',
    },
    {
      title: 'a request that this policy blocked is newly allowed',
      past: { score: 10, ...byPolicy },
      expected: 'newly_allowed',
    },
    {
      title: 'a request that another rule blocked gets a changed reason',
      past: { score: 9000, ...byOther },
      expected: 'changed_reason',
    },
    {
      title: 'a request that only another rule blocks is unchanged',
      past: { score: 10, ...byOther },
      expected: 'unchanged',
    },
    {
      title: 'a request that cannot be evaluated is counted separately',
      past: { isNotEvaluated: true, ...byPolicy },
      expected: 'not_evaluated',
    },
    { title: 'one matching text is enough', past: { isNotEvaluated: true, score: 5000 }, expected: 'newly_blocked' },
  ]
  for (const { title, past, expected } of cases) it(title, () => assert.equal(changeOf(replayed(past), 5000), expected))
})

describe('the counts of a backtest', () => {
  const eventOf = (eventId: string, result: ReplayedEvent['replayed'], projectId = 'proj_1'): ReplayedEvent => ({
    eventId,
    requestId: eventId.replace('evt', 'req'),
    projectId,
    threshold: 5000,
    replayed: result,
  })

  const exampleOf = (id: string, change: string, score: number) => ({
    event_id: `evt_${id}`,
    request_id: `req_${id}`,
    project_id: 'proj_1',
    change,
    score_basis_points: score,
  })

  it('are kept in total, by project, and per threshold', () => {
    const counts = [
      eventOf('evt_1', replayed({ score: 6000 })),
      eventOf('evt_2', replayed({ score: 3000, ...byPolicy }), 'proj_2'),
      eventOf('evt_3', replayed({ score: 9999, isRedacted: true })),
      eventOf('evt_4', replayed({ isNotEvaluated: true })),
      eventOf('evt_5', 'no_text'),
      eventOf('evt_6', 'not_sampled'),
    ].reduce(addReplayedEvent, noBacktestCounts([7000, 1000, 5000, 7000]))
    const none = { newly_blocked: 0, newly_allowed: 0, changed_reason: 0, unchanged: 0, not_evaluated: 0 }
    assert.deepEqual(counts, {
      ...none,
      newly_blocked: 2,
      newly_allowed: 1,
      not_evaluated: 1,
      projects: {
        proj_1: { ...none, newly_blocked: 2, not_evaluated: 1 },
        proj_2: { ...none, newly_allowed: 1 },
      },
      sweep: [
        { threshold_basis_points: 1000, blocked: 3, newly_blocked: 2, newly_allowed: 0 },
        { threshold_basis_points: 5000, blocked: 2, newly_blocked: 2, newly_allowed: 1 },
        { threshold_basis_points: 7000, blocked: 1, newly_blocked: 1, newly_allowed: 1 },
      ],
      scores: {
        ...noScores,
        allowed: noScores.allowed.with(60, 1).with(99, 1),
        blocked_by_policy: noScores.blocked_by_policy.with(30, 1),
      },
      coverage: { events: 6, sampled: 5, with_text: 4, redacted_only: 1, from_sample: 0 },
      examples: {
        newly_blocked: ['evt_1', 'evt_3'],
        newly_allowed: ['evt_2'],
        changed_reason: [],
        not_evaluated: ['evt_4'],
      },
      example_requests: [
        exampleOf('1', 'newly_blocked', 6000),
        { ...exampleOf('2', 'newly_allowed', 3000), project_id: 'proj_2' },
        exampleOf('3', 'newly_blocked', 9999),
        exampleOf('4', 'not_evaluated', 0),
      ],
    })
  })

  it('hold a range of scores from which the row of every threshold of a hundred follows', () => {
    const result = fc.record({
      score: fc.integer({ min: 0, max: 10_000 }),
      isNotEvaluated: fc.boolean(),
      past: fc.constantFrom({}, byPolicy, byOther),
    })
    const thresholds = [100, 2500, 5000, 9900]
    fc.assert(
      fc.property(fc.array(result, { maxLength: 60 }), (results) => {
        const { sweep, scores } = results
          .map(({ past, ...fields }, at) => eventOf(`evt_${at}`, replayed({ ...fields, ...past })))
          .reduce(addReplayedEvent, noBacktestCounts(thresholds))
        const sum = (kinds: readonly (typeof scoreClasses)[number][], isIn: (from: number) => boolean): number =>
          kinds
            .flatMap((kind) => scores[kind].filter((_, at) => isIn(at * scoreRange)))
            .reduce((all, requests) => all + requests, 0)
        const followed = thresholds.map((threshold) => ({
          threshold_basis_points: threshold,
          blocked: sum(scoreClasses, (from) => from >= threshold),
          newly_blocked: sum(['allowed'], (from) => from >= threshold),
          newly_allowed: sum(['blocked_by_policy'], (from) => from < threshold),
        }))
        assert.deepEqual(sweep, followed)
      }),
    )
  })

  it('keep a bounded number of examples', () => {
    let counts = noBacktestCounts([5000])
    for (let at = 0; at < 30; at++) counts = addReplayedEvent(counts, eventOf(`evt_${at}`, replayed({ score: 9000 })))
    assert.equal(counts.newly_blocked, 30)
    assert.equal(counts.examples.newly_blocked.length, 20)
  })
})
