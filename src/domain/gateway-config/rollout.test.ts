import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withDefaults, type GivenConfiguration } from './complete.ts'
import { unsaved } from './configuration.ts'
import { rolloutOf } from './rollout.ts'

type GivenRollout = NonNullable<GivenConfiguration['rollout']>

const modeOf = (rollout: GivenRollout, target?: string, isRolledBack = false): string => {
  const saved = { ...unsaved, config: withDefaults({ rollout }), isRolledBack }
  const { mode, isEnforced } = rolloutOf(saved, { subject: 'ada', target })
  return `${mode}, ${isEnforced ? 'enforced' : 'recorded'}`
}

const everyone = { enabled: true }
const europe = { enabled: true, targets: ['eu', 'uk'] }
const america = { enabled: true, targets: ['us'] }

const cases: readonly [title: string, seen: string, expected: string][] = [
  ['without a rollout, everything is enforced', modeOf({}), 'enforced, enforced'],
  ['a shadow records for everyone', modeOf({ shadow: everyone }), 'shadow, recorded'],
  ['a canary enforces for its sample', modeOf({ canary: everyone }), 'canary, enforced'],
  ['a canary records for the rest', modeOf({ canary: { ...everyone, sample_percent: 0 } }), 'canary, recorded'],
  ['a canary enforces for its targets', modeOf({ canary: europe }, 'uk'), 'canary, enforced'],
  ['a canary with targets records for other labels', modeOf({ canary: europe }, 'us'), 'shadow, recorded'],
  ['a canary with targets records without a label', modeOf({ canary: europe }), 'shadow, recorded'],
  ['a shadow with targets records for its targets', modeOf({ shadow: europe }, 'eu'), 'shadow, recorded'],
  ['a shadow with targets records for other labels', modeOf({ shadow: europe }, 'us'), 'shadow, recorded'],
  ['a shadow with targets records without a label', modeOf({ shadow: europe }), 'shadow, recorded'],
  [
    'a canary applies to its targets beside a shadow for others',
    modeOf({ shadow: europe, canary: america }, 'us'),
    'canary, enforced',
  ],
  [
    'neither rollout enforces for a label that none of them names',
    modeOf({ shadow: europe, canary: america }, 'br'),
    'shadow, recorded',
  ],
  [
    'a canary for everyone applies outside the targets of a shadow',
    modeOf({ shadow: europe, canary: everyone }, 'us'),
    'canary, enforced',
  ],
  [
    'the targets of a rollout that is not enabled have no effect',
    modeOf({ canary: { enabled: false, targets: ['eu'] } }),
    'enforced, enforced',
  ],
  ['a rollback takes precedence', modeOf({ canary: europe }, 'eu', true), 'rollback, recorded'],
]

describe('a rollout', () => {
  for (const [title, seen, expected] of cases) it(title, () => assert.equal(seen, expected))
})
