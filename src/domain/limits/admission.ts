import type { BudgetDemand, BudgetRejection, BudgetUse } from './budget-counters.ts'
import type { Limits, Metric, LimitScope } from './scopes.ts'
import type { LimitStatus } from './status.ts'

/** Whose request it is: the ids of the three scopes. */
export type Subject = { readonly organization: string; readonly project: string; readonly key: string }

/**
 * `full`: a request that will run. It takes a concurrency slot, reserves `tokens`, and holds `micro` micro-credits
 * (null: an organization without metering). A repeated `requestId` is admitted once.
 * `check`: a dry run. Nothing is taken and nothing is counted.
 * `count`: a request that ends here, such as one with a malformed body. It counts as a request and nothing else.
 */
export type AdmissionRequest = Subject & { readonly limits: Limits } & (
    | ({ readonly mode: 'full' } & Demand)
    | ({ readonly mode: 'check' } & Demand)
    | { readonly mode: 'count' }
  )

export type Demand = {
  readonly requestId: string
  readonly tokens: number
  readonly micro: number | null
  /** What it may use of the budgets that apply to it. */
  readonly budgets?: readonly BudgetDemand[]
  /** Set by a node that counts apart from others. */
  readonly budgetShare?: BudgetShare
}

/** How many nodes count apart, and how long each of them may do so without the spend of the others. */
export type BudgetShare = { readonly nodes: number; readonly maxAgeMs: number }

/** The slice of credits that the limiter spends from. `sliceId` null: this epoch has no slice. */
export type CreditStatus = {
  /** The epoch of the store that decided. Slices of another epoch are never spent from. */
  readonly epoch: string
  readonly sliceId: string | null
  readonly leftMicro: number
}

type Decision = {
  readonly limitStatus: LimitStatus
  /** The organization's time, by the clock of the store that decided. */
  readonly atMs: number
  /** Null if the request is not metered. */
  readonly credits: CreditStatus | null
}

export type Admitted = Decision & {
  readonly admitted: true
  /** The same `requestId` was admitted before and is not settled yet: nothing was counted again. */
  readonly duplicate: boolean
}

export type Rejected = Decision & {
  readonly admitted: false
  /** The limit that rejected the request; of several, the one with the longest wait. */
  readonly reason: Metric | 'credits' | 'budget'
  readonly scope: LimitScope
  /** Set if the reason is a budget. */
  readonly budget?: BudgetRejection
  /** If nothing else happens, the same request is admitted after this time. null: waiting does not help. */
  readonly retryAfterMs: number | null
}

export type AdmissionResult = Admitted | Rejected

/** What a request really used. Sent only after the ledger has written its charge. */
export type LimitSettlement = Subject & {
  readonly requestId: string
  readonly tokens: number
  readonly micro: number
  /** What it used of the budgets that apply to it at its end. Left out if that is unknown. */
  readonly budgets?: readonly BudgetUse[]
  /** It arrives so late that the counters of its budgets may have been opened with what the ledger has of it. */
  readonly isLate?: boolean
}

/** A request that is still running. */
export type Renewal = Subject & { readonly requestId: string }

export type SliceId = { readonly organization: string; readonly epoch: string; readonly sliceId: string }

/**
 * `amountMicro` is the slice's whole amount so far, not an addition to it: repeating a grant changes nothing.
 * `opens` is for the first grant of a slice alone. A store that has lost a slice has lost what was spent of it too, and
 * must not be given the whole of it again.
 */
export type Grant = SliceId & { readonly amountMicro: number; readonly opens: boolean }

/** An admitted request that was not settled yet. */
export type OpenHold = {
  readonly requestId: string
  readonly project: string
  readonly key: string
  readonly tokens: number
  /** Null if the request is not metered. */
  readonly micro: number | null
  readonly sliceId: string | null
  /** Past its deadline: the node that held it is gone. Only the ledger knows the outcome. */
  readonly overdue: boolean
}

/** The credits of one organization in one store. */
export type CreditAccount = {
  readonly slice: (SliceId & { readonly amountMicro: number; readonly leftMicro: number }) | null
  readonly holds: readonly OpenHold[]
}

/** Settings that must be the same on every node. */
export type LimitSettings = {
  /** A concurrency slot is freed after this time unless it is renewed. */
  readonly leaseMs: number
  /** Longer than the longest request. A hold past it is overdue, but only the reconciler releases it, never time alone. */
  readonly holdMs: number
  /** In which scopes a request that a limit rejected counts as a request. */
  readonly countRejectedIn: keyof typeof rejectedScopes
}

/** In how many scopes, nearest first, a rejected request counts. */
export const rejectedScopes = { none: 0, key: 1, all: 3 } as const

/** Throws unless all amounts are exact, non-negative integers: otherwise the stores would disagree. */
export function assertWhole(...amounts: readonly number[]): void {
  for (const amount of amounts) {
    if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not a whole amount: ${amount}`)
  }
}
