import { createHash } from 'node:crypto'
import type { Price } from '../inference/catalogue.ts'
import type { Usage } from '../inference/events.ts'

/** What a million tokens of each class cost, in whole micro-credits. `version` is another whenever one of them is. */
export type Rates = {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly version: string
}

/** The tokens that have a price. */
export type PricedTokens = Pick<Usage, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'outputTokens'>

export const microPerCredit = 1_000_000
const tokensPerRate = 1_000_000

/** The rates of a price list, worked out once for each. */
export function createRates(creditUsd: number): (price: Price) => Rates {
  const known = new WeakMap<Price, Rates>()
  return (price) => {
    const rates = known.get(price) ?? ratesOf(price, creditUsd)
    known.set(price, rates)
    return rates
  }
}

function ratesOf(price: Price, creditUsd: number): Rates {
  const rate = (usd: number): number => exact(Math.round((usd / creditUsd) * microPerCredit))
  const rates = {
    input: rate(price.input),
    cacheRead: rate(price.cacheRead),
    cacheWrite: rate(price.cacheWrite),
    output: rate(price.output),
  }
  const version = createHash('sha256').update(JSON.stringify(rates)).digest('hex').slice(0, 12)
  return { ...rates, version }
}

/** One rounding, at the end, upwards. Numbers serve as long as they are exact: nearly always, at a tenth of the price. */
export function costMicro(tokens: PricedTokens, rates: Rates): number {
  const cost =
    tokens.inputTokens * rates.input +
    tokens.cacheReadTokens * rates.cacheRead +
    tokens.cacheWriteTokens * rates.cacheWrite +
    tokens.outputTokens * rates.output
  if (!Number.isSafeInteger(cost)) return largeCostMicro(tokens, rates)
  const rest = cost % tokensPerRate
  return exact((cost - rest) / tokensPerRate + Math.sign(rest))
}

function largeCostMicro(tokens: PricedTokens, rates: Rates): number {
  const cost =
    BigInt(tokens.inputTokens) * BigInt(rates.input) +
    BigInt(tokens.cacheReadTokens) * BigInt(rates.cacheRead) +
    BigInt(tokens.cacheWriteTokens) * BigInt(rates.cacheWrite) +
    BigInt(tokens.outputTokens) * BigInt(rates.output)
  return exact(Number((cost + BigInt(tokensPerRate) - 1n) / BigInt(tokensPerRate)))
}

/** The most that this much input and output can cost: nobody knows yet which input the upstream has cached. */
export function worstCaseMicro(tokens: { readonly input: number; readonly output: number }, rates: Rates): number {
  const input = Math.max(rates.input, rates.cacheRead, rates.cacheWrite)
  const usage = { inputTokens: tokens.input, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: tokens.output }
  return costMicro(usage, input === rates.input ? rates : { ...rates, input })
}

/** Money is whole and exact, or it is an error. */
function exact(amount: number): number {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not an exact amount: ${amount}`)
  return amount
}
