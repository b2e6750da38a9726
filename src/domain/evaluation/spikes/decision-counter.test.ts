import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Decision } from '../verdict/combine.ts'
import { digestedCaller } from './active-callers.ts'
import { createDecisionCounter, type CountedRequest } from './decision-counter.ts'

const decisionOf = (decision: Decision['decision'], policyId = 'pol_1'): Decision => ({
  check: 'policy',
  decision,
  effect: 'allow',
  isEnforced: true,
  rolloutMode: 'enforced',
  reasonCode: '',
  policyId,
  version: 3,
  triggeredCategories: [],
})
const caller = { keyId: 'key_1', user: 'ann' }
const requestOf = (decisions: readonly Decision[]): CountedRequest => ({ organizationId: 'org_1', caller, decisions })
const nothingRecorded = { recordedRequests: 0, recordedDenials: 0 }
const nothing = { minutes: [], callers: [] }
const monitored = { organizationId: 'org_1', subject: 'pol_1', version: 3 }

describe('the decision counter', () => {
  it('returns the subjects of denials: refusals and escalations, no rewrites', () => {
    const kinds = ['allow', 'rewrite', 'refuse', 'escalate'] as const
    const decisions = kinds.map((kind) => decisionOf(kind, kind))
    const denied = createDecisionCounter().count(requestOf(decisions), 7)
    assert.deepEqual(
      denied.map(({ subject }) => subject),
      ['refuse', 'escalate'],
    )
  })

  it('returns unwritten counts once, and again after they were put back', () => {
    const counter = createDecisionCounter()
    counter.count(requestOf([decisionOf('allow')]), 7)
    counter.count(requestOf([decisionOf('refuse')]), 7)
    const taken = counter.takeUnwritten()
    assert.deepEqual(taken, {
      minutes: [{ ...monitored, minute: 7, requests: 2, denials: 1, ...nothingRecorded }],
      callers: [
        {
          ...monitored,
          ...digestedCaller(caller),
          activeMinute: 7,
          deniedMinute: 7,
          observedMinute: 0,
          matchedMinute: 0,
        },
      ],
    })
    assert.deepEqual(counter.takeUnwritten(), nothing)
    counter.putBack(taken)
    assert.deepEqual(counter.takeUnwritten(), taken)
  })

  it('counts what is only recorded apart, and reports no subject for it', () => {
    const counter = createDecisionCounter()
    const recorded = (decision: Decision['decision']): Decision => ({ ...decisionOf(decision), isEnforced: false })
    assert.deepEqual(counter.count(requestOf([recorded('refuse')]), 7), [])
    counter.count(requestOf([recorded('allow')]), 7)
    counter.count(requestOf([decisionOf('allow')]), 7)
    const taken = counter.takeUnwritten()
    assert.deepEqual(taken.minutes, [
      { ...monitored, minute: 7, requests: 1, denials: 0, recordedRequests: 2, recordedDenials: 1 },
    ])
    counter.putBack(taken)
    assert.deepEqual(counter.takeUnwritten(), taken)
  })

  it('evicts old minutes only when they are written', () => {
    const counter = createDecisionCounter()
    counter.count(requestOf([decisionOf('allow')]), 7)
    counter.evictBefore(8)
    const taken = counter.takeUnwritten()
    assert.deepEqual(taken.minutes, [{ ...monitored, minute: 7, requests: 1, denials: 0, ...nothingRecorded }])
    counter.evictBefore(8)
    counter.putBack(taken)
    counter.evictBefore(8)
    assert.deepEqual(counter.takeUnwritten(), taken)
  })
})
