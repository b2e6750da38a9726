import type { Usage } from './events.ts'
import type { Price } from './catalogue.ts'

/** Micro-USD of an answer: one rounding, at the end, upwards. */
export function costMicroUsd(usage: Usage, price: Price): number {
  // USD per million tokens is the same number as micro-USD per token.
  return Math.ceil(
    roundAway(
      usage.inputTokens * price.input +
        usage.outputTokens * price.output +
        usage.cacheReadTokens * price.cacheRead +
        usage.cacheWriteTokens * price.cacheWrite,
    ),
  )
}

/** 3 x 0.1 is 0.30000000000000004 in binary: without this, exact prices would be rounded up by one. */
const roundAway = (micro: number): number => Math.round(micro * 1e6) / 1e6
