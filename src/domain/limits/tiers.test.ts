import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shareOf } from './scopes.ts'
import { limitsOf, tierOf, tierTable, withOverrides, type Tier } from './tiers.ts'

const usd = 1_000_000

describe('the tier of an organization', () => {
  const cases: readonly (readonly [plan: string, paidUsd: number, tier: Tier])[] = [
    ['free', 0, 'free'],
    ['free', 19.99, 'free'],
    ['free', 20, 'tier_1'],
    ['free', 50, 'tier_2'],
    ['free', 200, 'tier_3'],
    ['free', 1000, 'tier_4'],
    ['free', 5000, 'tier_5'],
    ['developer', 0, 'tier_1'],
    ['growth', 0, 'tier_2'],
    ['scale', 0, 'tier_3'],
    ['Scale', 0, 'tier_3'],
    ['scale', 20, 'tier_3'],
    ['developer', 1000, 'tier_4'],
    ['a plan of tomorrow', 0, 'free'],
  ]
  for (const [plan, paidUsd, tier] of cases) {
    it(`is ${tier} on the plan "${plan}" with ${paidUsd} USD paid`, () => {
      assert.equal(tierOf({ plan, lifetimePaidMicroUsd: paidUsd * usd }), tier)
    })
  }
})

describe('the limits of a tier', () => {
  it('are one and a half times the key’s for a project, and twice for an organization', () => {
    assert.deepEqual(limitsOf(tierTable.tier_1), {
      key: { rpm: 120, rpd: 15_000, tpm: 2_000_000, tpd: 0, concurrent: 8 },
      project: { rpm: 180, rpd: 22_500, tpm: 3_000_000, tpd: 0, concurrent: 10 },
      organization: { rpm: 240, rpd: 30_000, tpm: 4_000_000, tpd: 2_000_000_000, concurrent: 12 },
    })
  })

  it('are overridden by the values of this organization, project or key', () => {
    const limits = limitsOf(tierTable.free, { key: { rpm: 5 }, organization: { tpd: 0, concurrent: 100 } })
    assert.equal(limits.key.rpm, 5)
    assert.equal(limits.key.rpd, 10_000)
    assert.deepEqual([limits.organization.tpd, limits.organization.concurrent], [0, 100])
  })

  it('change with the overrides of the configuration only', () => {
    const table = withOverrides(tierTable, { free: { rpm: 7, concurrent: { key: 1 } } })
    assert.deepEqual(table.free, { ...tierTable.free, rpm: 7, concurrent: { key: 1, project: 6, organization: 8 } })
    assert.deepEqual(table.tier_5, tierTable.tier_5)
  })
})

describe('a node’s share of the limits', () => {
  it('adds up to no more than the limit', () => {
    const whole = limitsOf(tierTable.free)
    const share = shareOf(whole, 7)
    assert.equal(share.key.rpm, 8)
    assert.ok(share.organization.tpd * 7 <= whole.organization.tpd)
  })

  it('is at least 1, and unlimited stays unlimited', () => {
    const share = shareOf(limitsOf(tierTable.free), 50)
    assert.equal(share.key.concurrent, 1)
    assert.equal(share.key.tpd, 0)
  })
})
