import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Decision } from '../verdict/combine.ts'
import { countedSubject } from './counted-decisions.ts'

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

const cases: { title: string; decision: Partial<Decision>; expected: string | undefined }[] = [
  { title: 'a decision of an enforced policy counts under its id', decision: {}, expected: 'pol_1' },
  { title: 'a refusal counts', decision: { decision: 'refuse' }, expected: 'pol_1' },
  { title: 'a decision that is only recorded counts as well', decision: { isEnforced: false }, expected: 'pol_1' },
  {
    title: 'a rule that could not be evaluated does not count, although the request was blocked',
    decision: { decision: 'not_evaluated', effect: 'refuse' },
    expected: undefined,
  },
  {
    title: 'the gateway configuration is counted under its own name',
    decision: { check: 'gateway', policyId: 'default', decision: 'refuse' },
    expected: 'gateway',
  },
  {
    title: 'a configuration that was never saved does not count',
    decision: { check: 'gateway', version: 0 },
    expected: undefined,
  },
  {
    title: 'always blocked categories do not count',
    decision: { check: 'always_blocked', decision: 'refuse' },
    expected: undefined,
  },
  { title: 'requested categories do not count', decision: { check: 'requested' }, expected: undefined },
]

describe('the decisions that are counted', () => {
  for (const { title, decision, expected } of cases)
    it(title, () => assert.equal(countedSubject(decisionOf(decision)), expected))
})
