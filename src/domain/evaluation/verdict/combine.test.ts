import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checks } from '../../audit/event/verdict.ts'
import { combine, denialOf, isDenied, mergeDecisions, withDecisions, type Decision } from './combine.ts'

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

/** The strongest decision of each rule, by sorting alone: the first of equals. */
function strongestByRule(decisions: readonly Decision[]): readonly Decision[] {
  const strength = ['allow', 'not_evaluated', 'redact', 'rewrite', 'summary', 'escalate', 'refuse']
  const byRule = Map.groupBy(decisions, ({ check, policyId }) => (check === 'policy' ? policyId : check))
  const strongest = [...byRule.values()].flatMap((ofRule) =>
    ofRule.toSorted((one, other) => strength.indexOf(other.decision) - strength.indexOf(one.decision)).slice(0, 1),
  )
  const byPolicy = strongest.toSorted((one, other) => ((one.policyId ?? '') < (other.policyId ?? '') ? -1 : 1))
  return checks.flatMap((check) => byPolicy.filter((one) => one.check === check))
}

const anyDecisions = fc.array(
  fc.record({
    decision: fc.constantFrom('allow', 'not_evaluated', 'redact', 'refuse'),
    check: fc.constantFrom('policy', 'policy', 'policy', 'gateway'),
    policyId: fc.constantFrom('a', 'b', 'c', 'd'),
  }),
)

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
    const ofRequest = [decisionOf('allow', { policyId: 'a' })]
    const ofResponse = [
      decisionOf('refuse', { policyId: 'a' }),
      decisionOf('allow', { policyId: 'a' }),
      decisionOf('allow', { policyId: 'b' }),
    ]
    const merged = mergeDecisions(ofRequest, ofResponse)
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
    const merged = mergeDecisions(ofRequest, [decisionOf('refuse', { check: 'always_blocked' }), ...ofResponse])
    assert.deepEqual(
      merged.map(({ check }) => check),
      ['always_blocked', 'requested', 'gateway', 'policy'],
    )
  })

  it('names the same policy for an answer alone and for an answer with its request', () => {
    const ofRequest = [decisionOf('allow', { check: 'policy', policyId: 'b' })]
    const ofResponse = ['a', 'b'].map((policyId) => decisionOf('refuse', { check: 'policy', policyId }))
    assert.equal(combine(ofResponse).deciding?.policyId, 'a')
    assert.equal(withDecisions(combine(ofRequest), ofResponse).deciding?.policyId, 'a')
  })

  it('merges decisions of any rules in any order', () => {
    fc.assert(
      fc.property(anyDecisions, anyDecisions, (one, other) => {
        const [first, second] = [one, other].map((some) => some.map(({ decision, ...of }) => decisionOf(decision, of)))
        const distinct = mergeDecisions([], first ?? [])
        assert.deepEqual(mergeDecisions(distinct, second ?? []), strongestByRule([...distinct, ...(second ?? [])]))
      }),
    )
  })

  it('returns the same verdict if the response adds only weaker decisions of the same rules', () => {
    const verdict = combine([decisionOf('allow', { policyId: 'a' }), decisionOf('redact', { policyId: 'b' })])
    const weaker = [decisionOf('allow', { policyId: 'a' }), decisionOf('allow', { policyId: 'b' })]
    assert.equal(withDecisions(verdict, weaker), verdict)
  })

  it('turns a verdict that cannot be carried out into a denial by the same policy', () => {
    const [denial] = denialOf(combine([decisionOf('rewrite', { policyId: 'pol_1' })]))
    assert.deepEqual([denial?.policyId, denial?.effect], ['pol_1', 'refuse'])
  })
})
