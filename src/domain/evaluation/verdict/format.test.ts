import assert from 'node:assert/strict'
import { it } from 'node:test'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { initialContent } from '../../policy/content.ts'
import { planFor } from '../plan.ts'
import { emptyRulebook, type ActivePolicy } from '../rulebook.ts'
import { combine } from './combine.ts'
import { policyDecision } from './decisions.ts'
import { verdictFacts } from './format.ts'

const policy: ActivePolicy = {
  ...initialContent,
  id: 'pol_1',
  name: 'No falcons',
  versionId: 'polv_1',
  version: 3,
  direction: 'response',
  mode: 'enforcing',
  rule: {
    lookBehind: 'whole',
    evaluator: 'judge',
    judgeVersion: 'judge-model@1f3b9c0d5e7a',
    names: [],
    categories: [],
    injectionPlaces: [],
    condition: undefined,
    score: () => ({ basisPoints: 10_000 }),
  },
}

it('the audit facts of a verdict name the deciding policy', () => {
  const plan = planFor({ ...emptyRulebook, policies: [policy] }, plainContext)
  const decision = policyDecision(policy, { scores: [[{ basisPoints: 10_000 }]], at: 0 }, { plan, failsOpen: false })
  const facts = verdictFacts(combine([decision]), { plan, direction: 'response' })
  assert.deepEqual(facts.policy, { id: 'pol_1', name: 'No falcons', version: 3 })
})

it('the audit facts of a verdict pin the judge of its policies, and the threshold of each policy', () => {
  const plan = planFor({ ...emptyRulebook, policies: [policy] }, plainContext)
  const decision = policyDecision(policy, { scores: [[{ basisPoints: 10_000 }]], at: 0 }, { plan, failsOpen: false })
  const facts = verdictFacts(combine([decision]), { plan, direction: 'response' })
  assert.equal(facts.judge, 'judge-model@1f3b9c0d5e7a')
  assert.equal(facts.results?.[0]?.thresholdBasisPoints, 5_000)
  assert.equal(verdictFacts(combine([]), { plan, direction: 'request' }).judge, undefined)
})
