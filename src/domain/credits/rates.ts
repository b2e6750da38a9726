import { createHash } from 'node:crypto'
import type { Price } from '../inference/catalogue.ts'
import type { Usage } from '../inference/events.ts'

/** The price of a million tokens of each class, in whole micro-credits. `version` changes whenever one of them does. */
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

/** Converts prices in dollars to rates. The result is cached for each price list. */
export function createRates(creditUsd: number): (price: Price) => Rates {
  const cache = new WeakMap<Price, Rates>()
  return (price) => {
    const rates = cache.get(price) ?? ratesOf(price, creditUsd)
    cache.set(price, rates)
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

/** Rounds up once, at the end. Plain numbers are used while they are exact, because BigInt is ten times slower. */
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

/** The most that this many input and output tokens can cost. How much of the input the upstream has cached is not known yet. */
export function worstCaseMicro(tokens: { readonly input: number; readonly output: number }, rates: Rates): number {
  const input = Math.max(rates.input, rates.cacheRead, rates.cacheWrite)
  const usage = { inputTokens: tokens.input, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: tokens.output }
  return costMicro(usage, input === rates.input ? rates : { ...rates, input })
}

/** Throws unless the amount is an exact, non-negative integer. */
function exact(amount: number): number {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not an exact amount: ${amount}`)
  return amount
}
