/**
 * The counter of one member of a budget in one period, such as what one user spent today. It counts what was spent, as the ledger
 * says, and what running requests hold. A counter is `open` if it knows all that the ledger has. One that is not open admits nothing.
 */
export type BudgetDemand = {
  readonly counter: string
  /** The request is rejected if the counter would pass this. `countOnly` never rejects. */
  readonly limit: number
  /** The most that the request may use. */
  readonly amount: number
  /** A counter that was opened in an earlier phase of its budget may lack spend, and is not open. A whole number. */
  readonly phase: number
}

export const countOnly = Number.MAX_SAFE_INTEGER

/** What a request used of a budget. */
export type BudgetUse = Pick<BudgetDemand, 'counter' | 'amount'>

/** Why a budget rejected a request. */
export type BudgetRejection = {
  /** The place of the demand in the request. */
  readonly index: number
  /** What is spent and held. Null: the counter is not open. */
  readonly used: number | null
  /** The epoch of the store in which the counter must be opened. */
  readonly epoch: string
}

/**
 * Counters are opened in two calls with one token. The first begins to note what is settled, the second adds the spend that was read
 * from the ledger in between. So nothing that is settled meanwhile is missed. Of two counts at once, the later one opens the counter.
 */
export type BudgetCount = {
  readonly organization: string
  readonly epoch: string
  /** Unique among counts. A whole number. */
  readonly token: number
  readonly counters: readonly CountedBudget[]
}

export type CountedBudget = {
  readonly counter: string
  /** By the ledger. Null: the count begins. */
  readonly spent: number | null
  readonly phase: number
  /** When the counter is needed no longer: some time after its period. */
  readonly expiresAtMs: number
}

/** Higher than every phase, so that a version and a phase fit into one number. */
export const phaseRange = 2 ** 26
