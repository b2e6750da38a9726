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
export const createAnswerMemoryBudget = (maxBytes: number): AnswerMemoryBudget => new Budget(maxBytes)

class Budget implements AnswerMemoryBudget {
  readonly maxBytes: number
  reserved = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  open(): MemoryLease {
    return new Share(this)
  }
}

class Share implements MemoryLease {
  readonly budget: Budget
  own = 0
  isReleased = false

  constructor(budget: Budget) {
    this.budget = budget
  }

  reserve(bytes: number): void {
    if (this.isReleased) return
    this.own += bytes
    this.budget.reserved += bytes
    if (this.own >= largeBytes && this.budget.reserved > this.budget.maxBytes) throw exhausted()
  }

  release(): void {
    this.budget.reserved -= this.isReleased ? 0 : this.own
    this.isReleased = true
  }
}

const exhausted = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many long responses are in progress.', { retryAfterSeconds: 1 })
