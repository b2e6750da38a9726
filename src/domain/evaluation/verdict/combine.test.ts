import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { combine, isDenied, mergeDecisions, denialOf, type Decision } from './combine.ts'

const decisionOf = (decision: Decision['decision'], more: Partial<Decision> = {}): Decision => ({
  check: 'policy',
  decision,
  effect: decision === 'not_evaluated' ? 'allow' : decision,
  isEnforced: true,
  rolloutMode: 'enforced',
  reasonCode: decision.toUpperCase(),
  policyId: `pol_${decision}`,
  version: 1,
  triggeredCategories: [],
  ...more,
})

describe('combining decisions', () => {
  it('ranks refuse over escalate over summary over rewrite over redact over allow', () => {
    const order = ['refuse', 'escalate', 'summary', 'rewrite', 'redact', 'allow'] as const
    for (const [at, decision] of order.entries()) {
      const weaker = order.slice(at).map((one) => decisionOf(one))
      assert.equal(combine(weaker.reverse()).effectiveDecision, decision)
    }
  })

  it('reports a decision that is not enforced without applying it', () => {
    const verdict = combine([decisionOf('refuse', { isEnforced: false }), decisionOf('allow')])
    assert.deepEqual([verdict.decision, verdict.effectiveDecision, isDenied(verdict)], ['refuse', 'allow', false])
  })

  it('prefers an enforced decision to a stronger one that is not enforced', () => {
    const verdict = combine([decisionOf('refuse', { isEnforced: false }), decisionOf('redact')])
    assert.deepEqual([verdict.decision, verdict.effectiveDecision], ['redact', 'redact'])
  })

  it('never reports a rule that could not be evaluated as allowed', () => {
    assert.equal(combine([decisionOf('not_evaluated'), decisionOf('allow')]).decision, 'not_evaluated')
    const closed = combine([decisionOf('not_evaluated', { effect: 'refuse' })])
    assert.deepEqual([closed.decision, closed.effectiveDecision], ['not_evaluated', 'refuse'])
  })

  it('keeps the strongest decision of each policy when merging', () => {
    const merged = mergeDecisions([
      decisionOf('allow', { policyId: 'a' }),
      decisionOf('refuse', { policyId: 'a' }),
      decisionOf('allow', { policyId: 'a' }),
      decisionOf('allow', { policyId: 'b' }),
    ])
    assert.deepEqual(
      merged.map(({ policyId, decision }) => [policyId, decision]),
      [
        ['a', 'refuse'],
        ['b', 'allow'],
      ],
    )
  })

  it('orders merged decisions by check, whichever came first', () => {
    const ofRequest = [
      decisionOf('allow', { check: 'gateway' }),
      decisionOf('allow', { check: 'policy', policyId: 'a' }),
    ]
    const ofResponse = [decisionOf('refuse', { check: 'requested' }), decisionOf('refuse', { check: 'gateway' })]
    const merged = mergeDecisions([...ofRequest, decisionOf('refuse', { check: 'always_blocked' }), ...ofResponse])
    assert.deepEqual(
      merged.map(({ check }) => check),
      ['always_blocked', 'requested', 'gateway', 'policy'],
    )
  })

  it('turns a verdict that cannot be carried out into a denial by the same policy', () => {
    const [denial] = denialOf(combine([decisionOf('rewrite', { policyId: 'pol_1' })]))
    assert.deepEqual([denial?.policyId, denial?.effect], ['pol_1', 'refuse'])
  })
})
