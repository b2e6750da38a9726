import { Fault } from '../../../base/fault.ts'

/** What one answer takes of the memory that all answers share. */
export type MemoryLease = {
  /** Throws a Fault where too little is left. */
  take(bytes: number): void
  /** The answer is over. */
  release(): void
}

export type AnswerMemoryBudget = { open(): MemoryLease }

/** Smaller answers are never refused: there are as many of them as there are calls under way. */
const largeBytes = 128 * 1024

/** Bounds what the answers under way hold in memory, all of them together. */
export function createAnswerMemoryBudget(maxBytes: number): AnswerMemoryBudget {
  let taken = 0
  return {
    open() {
      let own = 0
      let isReleased = false
      return {
        take(bytes) {
          if (isReleased) return
          own += bytes
          taken += bytes
          if (own >= largeBytes && taken > maxBytes) throw exhausted()
        },
        release() {
          taken -= isReleased ? 0 : own
          isReleased = true
        },
      }
    },
  }
}

const exhausted = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many long answers are under way.', { retryAfterSeconds: 1 })
