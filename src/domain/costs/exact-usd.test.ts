import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { exactUsd } from './exact-usd.ts'

describe('an exact amount in dollars', () => {
  it('has as many decimals as it needs, and no exponent', () => {
    assert.equal(exactUsd(1, 0.001), '0.000000001')
    assert.equal(exactUsd(1_500_000, 0.001), '0.0015')
    assert.equal(exactUsd(2_000_000_000, 0.001), '2')
    assert.equal(exactUsd(3, 1.5e-7), '0.00000000000045')
    assert.equal(exactUsd(7_000_000, 1e21), '7000000000000000000000')
    assert.equal(exactUsd(0, 0.001), '0')
  })

  it('adds up to the amount of the sum', () => {
    const micro = fc.array(fc.nat(), { minLength: 1, maxLength: 50 })
    const price = fc.constantFrom(0.001, 1, 0.0123, 1e-7, 2.5e-9, 1000)
    fc.assert(
      fc.property(micro, price, (amounts, creditUsd) => {
        const places = 20
        const units = (text: string): bigint => {
          const [whole = '', fraction = ''] = text.split('.')
          return BigInt(whole + fraction.padEnd(places, '0'))
        }
        const added = amounts.reduce((sum, each) => sum + units(exactUsd(each, creditUsd)), 0n)
        const total = amounts.reduce((sum, each) => sum + each, 0)
        assert.equal(added, units(exactUsd(total, creditUsd)))
      }),
    )
  })
})
