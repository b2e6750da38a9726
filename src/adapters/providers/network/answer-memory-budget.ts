import { Fault } from '../../../base/fault.ts'

/** The share of one response in the memory budget. */
export type MemoryLease = {
  /** Adds to the share. Throws a `Fault` if the budget is exhausted. */
  reserve(bytes: number): void
  /** Returns the whole share. Call it when the response has ended. */
  release(): void
}

export type AnswerMemoryBudget = { open(): MemoryLease }

/** Smaller responses are never rejected. Their number is limited by the number of concurrent calls. */
const largeBytes = 128 * 1024

/** Limits the memory of all responses that are being received. */
export function createAnswerMemoryBudget(maxBytes: number): AnswerMemoryBudget {
  let reserved = 0
  return {
    open() {
      let own = 0
      let isReleased = false
      return {
        reserve(bytes) {
          if (isReleased) return
          own += bytes
          reserved += bytes
          if (own >= largeBytes && reserved > maxBytes) throw exhausted()
        },
        release() {
          reserved -= isReleased ? 0 : own
          isReleased = true
        },
      }
    },
  }
}

const exhausted = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many long responses are in progress.', { retryAfterSeconds: 1 })
