import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isFault } from '../../base/fault.ts'
import type { DirectoryStore } from '../identity/store.ts'
import type { NewGrant } from './ledger-store.ts'
import { correctCredits, grantCredits, recordPayment } from './payments.ts'

const organizationId = 'org_1'

/** Stores in memory: a reference is granted once. */
function openStores() {
  const granted: NewGrant[] = []
  const corrected = new Map<string, number>()
  const paidMicroUsd: number[] = []
  const grants = {
    async grant(grant: NewGrant) {
      if (granted.some(({ kind, ref }) => kind === grant.kind && ref === grant.ref)) return false
      granted.push(grant)
      return true
    },
    async correct({ ref, micro }: Pick<NewGrant, 'ref' | 'micro'>) {
      const isNew = !corrected.has(ref)
      corrected.set(ref, micro)
      const sum = (amounts: Iterable<number>): number => [...amounts].reduce((total, each) => total + each, 0)
      return { isNew, availableMicro: sum(granted.map((grant) => grant.micro)) - sum(corrected.values()) }
    },
  }
  const directory = {
    async addPayment(_organizationId: string, microUsd: number) {
      paidMicroUsd.push(microUsd)
      return true
    },
  } as Pick<DirectoryStore, 'addPayment'> as DirectoryStore
  return { grants, directory, granted, paidMicroUsd }
}

describe('a grant', () => {
  it('is written and audited once for each reference', async () => {
    const { grants, granted } = openStores()
    const grant = { organizationId, credits: 5, ref: 'gift', note: 'welcome' }
    const first = await grantCredits(grants, grant)
    assert.deepEqual(first, {
      value: true,
      record: {
        kind: 'credits.granted',
        resourceId: organizationId,
        details: { credits: 5, ref: 'gift', note: 'welcome' },
      },
    })
    assert.deepEqual(await grantCredits(grants, grant), { value: false })
    assert.deepEqual([granted.length, granted[0]?.micro], [1, 5_000_000])
  })

  it('must be an amount of credits', async () => {
    const { grants } = openStores()
    for (const credits of [0, -1, NaN, 1e12])
      await assert.rejects(grantCredits(grants, { organizationId, credits, ref: 'x', note: '' }), isFault)
  })
})

describe('a correction', () => {
  it('takes credits back and is audited, once for each reference', async () => {
    const { grants } = openStores()
    await grantCredits(grants, { organizationId, credits: 5, ref: 'gift', note: '' })
    const correction = { organizationId, credits: 2, ref: 'typo', note: 'too much' }
    const { value, record } = await correctCredits(grants, correction)
    assert.deepEqual(
      [value, record?.kind, record?.details],
      [true, 'credits.corrected', { credits: 2, ref: 'typo', note: 'too much' }],
    )
    assert.deepEqual(await correctCredits(grants, correction), { value: false })
  })

  it('of more than is available is rejected with the most that can be taken back', async () => {
    const { grants } = openStores()
    await grantCredits(grants, { organizationId, credits: 5, ref: 'gift', note: '' })
    await assert.rejects(correctCredits(grants, { organizationId, credits: 6, ref: 'x', note: '' }), {
      code: 'insufficient_credits',
      message: /^Only 5 credits can be taken back now/,
    })
  })
})

describe('a payment', () => {
  it('buys credits at the price of a credit and counts towards the tier, once for each reference', async () => {
    const stores = openStores()
    const payment = { organizationId, usd: 20, ref: 'invoice', creditUsd: 0.001 }
    const { value, record } = await recordPayment(stores, payment)
    assert.deepEqual([value, record?.details], [true, { usd: 20, credits: 20_000, ref: 'invoice' }])
    assert.deepEqual(await recordPayment(stores, payment), { value: false })
    assert.deepEqual(stores.paidMicroUsd, [20_000_000])
    assert.deepEqual([stores.granted[0]?.micro, stores.granted[0]?.note], [20_000_000_000, '20 USD'])
  })

  it('may name the credits that it buys', async () => {
    const stores = openStores()
    await recordPayment(stores, { organizationId, usd: 20, ref: 'invoice', creditUsd: 0.001, credits: 7 })
    assert.equal(stores.granted[0]?.micro, 7_000_000)
  })
})
