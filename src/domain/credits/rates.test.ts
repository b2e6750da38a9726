import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { costMicro, createRates, worstCaseMicro, type PricedTokens } from './rates.ts'
import { inUsd, displayedBalance, displayedUsage, toMicro } from './formatting.ts'

const ratesOf = createRates(0.001)
const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
const tokens = (part: Partial<PricedTokens>): PricedTokens => ({
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  ...part,
})
const anyTokens: fc.Arbitrary<PricedTokens> = fc.record({
  inputTokens: fc.nat(2_000_000),
  cacheReadTokens: fc.nat(2_000_000),
  cacheWriteTokens: fc.nat(2_000_000),
  outputTokens: fc.nat(200_000),
})
const anyUsd = fc.integer({ min: 0, max: 100_000 }).map((mills) => mills / 1000)
const anyPrice = fc.record({ input: anyUsd, output: anyUsd, cacheRead: anyUsd, cacheWrite: anyUsd })

describe('rates', () => {
  it('are whole micro-credits for a million tokens, exact where binary fractions are not', () => {
    const { input, output, cacheRead, cacheWrite } = ratesOf(price)
    assert.deepEqual([input, output, cacheRead, cacheWrite], [3e9, 15e9, 3e8, 3.75e9])
  })

  it('have a new version as soon as one of them changes', () => {
    assert.equal(ratesOf(price).version, ratesOf({ ...price }).version)
    assert.notEqual(ratesOf(price).version, ratesOf({ ...price, cacheRead: 0.31 }).version)
    assert.notEqual(ratesOf(price).version, createRates(0.002)(price).version)
  })

  it('are computed once for each price list', () => assert.equal(ratesOf(price), ratesOf(price)))
})

describe('the cost of an answer', () => {
  it('is the sum of its classes, rounded up once', () => {
    assert.equal(costMicro(tokens({ inputTokens: 1 }), ratesOf(price)), 3_000)
    const fine = ratesOf({ input: 0.0000004, output: 0.0000004, cacheRead: 0, cacheWrite: 0 })
    assert.equal(costMicro(tokens({ inputTokens: 1 }), fine), 1)
    assert.equal(costMicro(tokens({ inputTokens: 1, outputTokens: 1 }), fine), 1)
  })

  it('is never below the exact cost, and above it by less than one micro-credit', () => {
    fc.assert(
      fc.property(anyTokens, anyPrice, (used, list) => {
        const rates = ratesOf(list)
        const exact =
          BigInt(used.inputTokens) * BigInt(rates.input) +
          BigInt(used.cacheReadTokens) * BigInt(rates.cacheRead) +
          BigInt(used.cacheWriteTokens) * BigInt(rates.cacheWrite) +
          BigInt(used.outputTokens) * BigInt(rates.output)
        const over = BigInt(costMicro(used, rates)) * 1_000_000n - exact
        assert.ok(over >= 0n && over < 1_000_000n)
      }),
    )
  })

  it('never exceeds the hold, however the input is cached', () => {
    fc.assert(
      fc.property(anyTokens, anyPrice, (used, list) => {
        const rates = ratesOf(list)
        const input = used.inputTokens + used.cacheReadTokens + used.cacheWriteTokens
        assert.ok(costMicro(used, rates) <= worstCaseMicro({ input, output: used.outputTokens }, rates))
      }),
    )
  })

  it('is an error beyond the range of exact numbers', () => {
    const dear = ratesOf({ ...price, output: 1_000_000 })
    assert.throws(() => costMicro(tokens({ outputTokens: 10_000_000_000_000 }), dear), RangeError)
  })
})

describe('a displayed amount', () => {
  it('is rounded down and never negative for a balance, and rounded up for a usage', () => {
    assert.deepEqual(
      [displayedBalance(1_999_999), displayedBalance(-1), displayedUsage(1), displayedUsage(0)],
      [1, 0, 1, 0],
    )
  })

  it('has no binary rounding errors in dollars', () => assert.equal(inUsd(300_000, 0.001), 0.0003))

  it('is read from credits with a fraction, and from nothing else', () => {
    assert.equal(toMicro(5.5), 5_500_000)
    for (const wrong of [0, -1, Number.NaN, 1e12]) assert.throws(() => toMicro(wrong), RangeError)
  })
})
