import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Decision } from '../verdict/combine.ts'
import { countedDecisions } from './counted-decisions.ts'

const decisionOf = (fields: Partial<Decision>): Decision => ({
  check: 'policy',
  decision: 'allow',
  effect: 'allow',
  isEnforced: true,
  rolloutMode: 'enforced',
  reasonCode: 'ALLOW',
  policyId: 'pol_1',
  version: 3,
  triggeredCategories: [],
  ...fields,
})

const counted = (isDenied: boolean, subject = 'pol_1') => ({ subject, version: 3, isDenied })

const cases: { title: string; decisions: Decision[]; expected: object[] }[] = [
  { title: 'an allowed request counts as a request', decisions: [decisionOf({})], expected: [counted(false)] },
  { title: 'a refusal counts as a denial', decisions: [decisionOf({ decision: 'refuse' })], expected: [counted(true)] },
  {
    title: 'an escalation counts as a denial',
    decisions: [decisionOf({ decision: 'escalate' })],
    expected: [counted(true)],
  },
  { title: 'a rewrite is no denial', decisions: [decisionOf({ decision: 'rewrite' })], expected: [counted(false)] },
  {
    title: 'a decision that is not enforced does not count',
    decisions: [decisionOf({ isEnforced: false })],
    expected: [],
  },
  {
    title: 'a rule that could not be evaluated does not count, although the request was blocked',
    decisions: [decisionOf({ decision: 'not_evaluated', effect: 'refuse' })],
    expected: [],
  },
  {
    title: 'the gateway configuration is counted under its own name',
    decisions: [decisionOf({ check: 'gateway', policyId: 'default', decision: 'refuse' })],
    expected: [counted(true, 'gateway')],
  },
  {
    title: 'a configuration that was never saved does not count',
    decisions: [decisionOf({ check: 'gateway', version: 0 })],
    expected: [],
  },
  {
    title: 'always blocked and requested categories do not count',
    decisions: [decisionOf({ check: 'always_blocked', decision: 'refuse' }), decisionOf({ check: 'requested' })],
    expected: [],
  },
  {
    title: 'two decisions of a policy are one request, denied if one of them is a denial',
    decisions: [decisionOf({ decision: 'refuse' }), decisionOf({})],
    expected: [counted(true)],
  },
]

describe('the decisions that the spike monitor counts', () => {
  for (const { title, decisions, expected } of cases)
    it(title, () => assert.deepEqual(countedDecisions(decisions), expected))
})
