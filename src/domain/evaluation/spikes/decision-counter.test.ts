import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Decision } from '../verdict/combine.ts'
import { createDecisionCounter } from './decision-counter.ts'

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
const nothingRecorded = { recordedRequests: 0, recordedDenials: 0 }
const monitored = { organizationId: 'org_1', subject: 'pol_1', version: 3 }

describe('the decision counter', () => {
  it('returns the subjects of denials: refusals and escalations, no rewrites', () => {
    const kinds = ['allow', 'rewrite', 'refuse', 'escalate'] as const
    const decisions = kinds.map((kind) => decisionOf(kind, kind))
    const denied = createDecisionCounter().count('org_1', 7, decisions)
    assert.deepEqual(
      denied.map(({ subject }) => subject),
      ['refuse', 'escalate'],
    )
  })

  it('returns unwritten counts once, and again after they were put back', () => {
    const counter = createDecisionCounter()
    counter.count('org_1', 7, [decisionOf('allow')])
    counter.count('org_1', 7, [decisionOf('refuse')])
    const taken = counter.takeUnwritten()
    assert.deepEqual(taken, [{ ...monitored, minute: 7, requests: 2, denials: 1, ...nothingRecorded }])
    assert.deepEqual(counter.takeUnwritten(), [])
    counter.putBack(taken)
    assert.deepEqual(counter.recent(monitored, 7), { requests: 2, denials: 1 })
    assert.deepEqual(counter.takeUnwritten(), taken)
  })

  it('counts what is only recorded apart, and reports no subject for it', () => {
    const counter = createDecisionCounter()
    const recorded = (decision: Decision['decision']): Decision => ({ ...decisionOf(decision), isEnforced: false })
    assert.deepEqual(counter.count('org_1', 7, [recorded('refuse')]), [])
    counter.count('org_1', 7, [recorded('allow')])
    counter.count('org_1', 7, [decisionOf('allow')])
    assert.deepEqual(counter.recent(monitored, 7), { requests: 1, denials: 0 })
    const taken = counter.takeUnwritten()
    assert.deepEqual(taken, [
      { ...monitored, minute: 7, requests: 1, denials: 0, recordedRequests: 2, recordedDenials: 1 },
    ])
    counter.putBack(taken)
    assert.deepEqual(counter.takeUnwritten(), taken)
  })

  it('evicts old minutes only when they are written', () => {
    const counter = createDecisionCounter()
    counter.count('org_1', 7, [decisionOf('allow')])
    counter.evictBefore(8)
    assert.deepEqual(counter.takeUnwritten(), [
      { ...monitored, minute: 7, requests: 1, denials: 0, ...nothingRecorded },
    ])
    counter.evictBefore(8)
    counter.putBack([{ ...monitored, minute: 7, requests: 1, denials: 0, ...nothingRecorded }])
    assert.deepEqual(counter.recent(monitored, 7), { requests: 0, denials: 0 })
  })
})
