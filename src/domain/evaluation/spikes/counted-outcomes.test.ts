import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CheckOutcome } from '../verdict/outcome.ts'
import { countedOutcomes } from './counted-outcomes.ts'

const outcome = (fields: Partial<CheckOutcome>): CheckOutcome => ({
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

const said = (isDenied: boolean, subject = 'pol_1') => ({ subject, version: 3, isDenied })

const cases: { says: string; outcomes: CheckOutcome[]; wants: object[] }[] = [
  { says: 'a pass counts as a request', outcomes: [outcome({})], wants: [said(false)] },
  { says: 'a refusal counts', outcomes: [outcome({ decision: 'refuse' })], wants: [said(true)] },
  { says: 'an escalation counts', outcomes: [outcome({ decision: 'escalate' })], wants: [said(true)] },
  { says: 'a rewritten text is no denial', outcomes: [outcome({ decision: 'rewrite' })], wants: [said(false)] },
  { says: 'what is only monitored does not count', outcomes: [outcome({ isEnforced: false })], wants: [] },
  {
    says: 'what could not be judged does not count, although it was blocked',
    outcomes: [outcome({ decision: 'not_evaluated', effect: 'refuse' })],
    wants: [],
  },
  {
    says: 'the gateway configuration goes by its own name',
    outcomes: [outcome({ check: 'gateway', policyId: 'default', decision: 'refuse' })],
    wants: [said(true, 'gateway')],
  },
  {
    says: 'a configuration that was never saved is not watched',
    outcomes: [outcome({ check: 'gateway', version: 0 })],
    wants: [],
  },
  {
    says: 'what is always blocked, and what was asked for, is nobody’s spike',
    outcomes: [outcome({ check: 'always_blocked', decision: 'refuse' }), outcome({ check: 'requested' })],
    wants: [],
  },
  {
    says: 'a policy that was asked twice is one request, denied where it said no once',
    outcomes: [outcome({ decision: 'refuse' }), outcome({})],
    wants: [said(true)],
  },
]

describe('what the watch counts of a request', () => {
  for (const { says, outcomes, wants } of cases) it(says, () => assert.deepEqual(countedOutcomes(outcomes), wants))
})
