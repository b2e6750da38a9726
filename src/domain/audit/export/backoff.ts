import type { Random } from '../../../base/random.ts'

const firstMs = 1_000
const longestMs = 300_000
const longestWishMs = 3_600_000

/**
 * How long to wait before the next attempt, `attempt` counting failures from 1. Full jitter from one second up to
 * five minutes, and no last attempt: a log with a cursor can wait for a destination as long as it takes.
 * What the destination itself asked for wins, up to an hour.
 */
export function backoffMs(attempt: number, random: Random, retryAfterMs?: number): number {
  const jitter = random.fraction()
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, longestWishMs) + Math.floor(jitter * firstMs)
  // Past the cap the exponent no longer matters, and it must not overflow.
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 20))
  return Math.floor(jitter * ceilingMs)
}
