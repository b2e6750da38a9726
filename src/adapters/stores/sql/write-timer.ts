import { systemClock } from '../../../base/clock.ts'
import type { DatabaseFigures } from './database.ts'

export type WriteTimer = {
  /** Counts the time until `write` resolves. */
  time<T>(write: Promise<T>): Promise<T>
  figures(): DatabaseFigures['writes']
}

export function createWriteTimer(): WriteTimer {
  let count = 0
  let totalMs = 0
  return {
    async time(write) {
      const startMs = systemClock.monotonicMs()
      const result = await write
      count++
      totalMs += systemClock.monotonicMs() - startMs
      return result
    },
    figures: () => ({ count, totalMs }),
  }
}
