import type { Random } from '../../../base/random.ts'

const firstMs = 1_000
const longestMs = 300_000
const longestRetryAfterMs = 3_600_000

/**
 * The delay before the next attempt; `attempt` counts failures from 1. Full jitter, with a ceiling from one second to five
 * minutes. There is no last attempt, because the cursor keeps the position for any length of time. A delay that the
 * destination requested takes precedence, up to an hour.
 */
export function backoffMs(attempt: number, random: Random, retryAfterMs?: number): number {
  const jitter = random.fraction()
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, longestRetryAfterMs) + Math.floor(jitter * firstMs)
  // Above the ceiling the exponent no longer matters; the limit keeps it from overflowing.
  const ceilingMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 20))
  return Math.floor(jitter * ceilingMs)
}
