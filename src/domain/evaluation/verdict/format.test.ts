import assert from 'node:assert/strict'
import { it } from 'node:test'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { initialContent } from '../../policy/content.ts'
import { planFor } from '../rules/plan.ts'
import { emptyRulebook, type ActivePolicy } from '../rules/rulebook.ts'
import { combine } from './outcome.ts'
import { policyOutcome } from './outcomes.ts'
import { verdictFacts } from './format.ts'

const policy: ActivePolicy = {
  ...initialContent,
  id: 'pol_1',
  name: 'No falcons',
  versionId: 'polv_1',
  version: 3,
  direction: 'response',
  mode: 'enforcing',
  rule: { reach: 'whole', score: () => ({ basisPoints: 10_000 }) },
}

it('the audit log is told the name of the policy that decided, for those who read it elsewhere', () => {
  const plan = planFor({ ...emptyRulebook, policies: [policy] }, plainContext)
  const outcome = policyOutcome(policy, [{ basisPoints: 10_000 }], { plan, failsOpen: false })
  const facts = verdictFacts(combine([outcome]), { plan, direction: 'response' })
  assert.deepEqual(facts.policy, { id: 'pol_1', name: 'No falcons', version: 3 })
})
