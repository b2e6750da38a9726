import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ReplayResult } from './replay-result.ts'
import { addReplayedEvent, changeOf, noBacktestCounts, type ReplayedEvent } from './counts.ts'

const replayed = (fields: Partial<ReplayResult>): ReplayResult => ({
  score: 0,
  isUnjudged: false,
  wasBlocked: false,
  wasByThis: false,
  isRedacted: false,
  ...fields,
})

const byThis = { wasBlocked: true, wasByThis: true }
const byOther = { wasBlocked: true, wasByThis: false }

describe('what a draft changes for one request', () => {
  const cases: { says: string; past: Partial<ReplayResult>; wants: string }[] = [
    { says: 'below the threshold nothing happens', past: { score: 4999 }, wants: 'unchanged' },
    { says: 'at the threshold it is blocked', past: { score: 5000 }, wants: 'newly_blocked' },
    { says: 'what this policy blocked stays blocked', past: { score: 9000, ...byThis }, wants: 'unchanged' },
    { says: 'what this policy blocked is let go', past: { score: 10, ...byThis }, wants: 'newly_allowed' },
    { says: 'what others blocked has a further reason', past: { score: 9000, ...byOther }, wants: 'changed_reason' },
    { says: 'what others blocked is no business of the draft', past: { score: 10, ...byOther }, wants: 'unchanged' },
    { says: 'what cannot be judged is told apart', past: { isUnjudged: true, ...byThis }, wants: 'not_evaluated' },
    { says: 'one text that matches is enough', past: { isUnjudged: true, score: 5000 }, wants: 'newly_blocked' },
  ]
  for (const { says, past, wants } of cases) it(says, () => assert.equal(changeOf(replayed(past), 5000), wants))
})

describe('the tally of a backtest', () => {
  const look = (eventId: string, what: ReplayedEvent['replayed'], projectId = 'proj_1'): ReplayedEvent => ({
    eventId,
    projectId,
    threshold: 5000,
    replayed: what,
  })

  it('counts in all, by project, and at every threshold', () => {
    const tally = [
      look('evt_1', replayed({ score: 6000 })),
      look('evt_2', replayed({ score: 3000, ...byThis }), 'proj_2'),
      look('evt_3', replayed({ score: 9999, isRedacted: true })),
      look('evt_4', replayed({ isUnjudged: true })),
      look('evt_5', 'no_text'),
      look('evt_6', 'not_sampled'),
    ].reduce(addReplayedEvent, noBacktestCounts([7000, 1000, 5000, 7000]))
    const none = { newly_blocked: 0, newly_allowed: 0, changed_reason: 0, unchanged: 0, not_evaluated: 0 }
    assert.deepEqual(tally, {
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
      coverage: { events: 6, sampled: 5, with_text: 4, redacted_only: 1 },
      examples: {
        newly_blocked: ['evt_1', 'evt_3'],
        newly_allowed: ['evt_2'],
        changed_reason: [],
        not_evaluated: ['evt_4'],
      },
    })
  })

  it('keeps a handful of examples', () => {
    let tally = noBacktestCounts([5000])
    for (let at = 0; at < 30; at++) tally = addReplayedEvent(tally, look(`evt_${at}`, replayed({ score: 9000 })))
    assert.equal(tally.newly_blocked, 30)
    assert.equal(tally.examples.newly_blocked.length, 20)
  })
})
