import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { combine, isDenied, mergeOutcomes, denialOf, type CheckOutcome } from './outcome.ts'

const outcome = (decision: CheckOutcome['decision'], more: Partial<CheckOutcome> = {}): CheckOutcome => ({
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

describe('outcomes', () => {
  it('are weighed: refuse over escalate over summary over rewrite over redact over allow', () => {
    const order = ['refuse', 'escalate', 'summary', 'rewrite', 'redact', 'allow'] as const
    for (const [at, decision] of order.entries()) {
      const weaker = order.slice(at).map((one) => outcome(one))
      assert.equal(combine(weaker.reverse()).effectiveDecision, decision)
    }
  })

  it('have no effect where they are not enforced, and are told of all the same', () => {
    const verdict = combine([outcome('refuse', { isEnforced: false }), outcome('allow')])
    assert.deepEqual([verdict.decision, verdict.effectiveDecision, isDenied(verdict)], ['refuse', 'allow', false])
  })

  it('that are enforced outweigh stronger ones that are not', () => {
    const verdict = combine([outcome('refuse', { isEnforced: false }), outcome('redact')])
    assert.deepEqual([verdict.decision, verdict.effectiveDecision], ['redact', 'redact'])
  })

  it('that could not be judged are never called allowed', () => {
    assert.equal(combine([outcome('not_evaluated'), outcome('allow')]).decision, 'not_evaluated')
    const closed = combine([outcome('not_evaluated', { effect: 'refuse' })])
    assert.deepEqual([closed.decision, closed.effectiveDecision], ['not_evaluated', 'refuse'])
  })

  it('of several texts are one per policy, the strongest', () => {
    const merged = mergeOutcomes([
      outcome('allow', { policyId: 'a' }),
      outcome('refuse', { policyId: 'a' }),
      outcome('allow', { policyId: 'a' }),
      outcome('allow', { policyId: 'b' }),
    ])
    assert.deepEqual(
      merged.map(({ policyId, decision }) => [policyId, decision]),
      [
        ['a', 'refuse'],
        ['b', 'allow'],
      ],
    )
  })

  it('of an answer stand in the order of the checks, whichever was asked about the request before', () => {
    const asked = [outcome('allow', { check: 'gateway' }), outcome('allow', { check: 'policy', policyId: 'a' })]
    const answered = [outcome('refuse', { check: 'requested' }), outcome('refuse', { check: 'gateway' })]
    const merged = mergeOutcomes([...asked, outcome('refuse', { check: 'always_blocked' }), ...answered])
    assert.deepEqual(
      merged.map(({ check }) => check),
      ['always_blocked', 'requested', 'gateway', 'policy'],
    )
  })

  it('that cannot be carried out become a refusal by the same policy', () => {
    const [refusal] = denialOf(combine([outcome('rewrite', { policyId: 'house' })]))
    assert.deepEqual([refusal?.policyId, refusal?.effect], ['house', 'refuse'])
  })
})
