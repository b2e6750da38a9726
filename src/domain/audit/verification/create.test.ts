import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { isFault } from '../../../base/fault.ts'
import { createVerificationAdministration, type VerificationStores } from './create.ts'

const stores = {
  events: { fingerprints: async () => ({ first: 100, last: 200 }) },
  verifications: { insert: async () => true },
} as unknown as VerificationStores

describe('a verification of a range that is not in the log', () => {
  const { start } = createVerificationAdministration({ ids: (prefix) => `${prefix}_1`, clock: createHandClock().clock })

  for (const [range, param] of [
    [{ to: 50 }, 'to'],
    [{ from: 300 }, 'from'],
    [{ from: 150, to: 120 }, 'from'],
  ] as const)
    it(`is rejected with the field ${param}: ${JSON.stringify(range)}`, async () => {
      await assert.rejects(start(stores, 'org_1', range), (error) => isFault(error) && error.details.param === param)
    })
})
