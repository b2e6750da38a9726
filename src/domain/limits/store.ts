import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { BudgetCount } from './budget-counters.ts'
import type { LimitUsage } from './usage.ts'
import type {
  AdmissionRequest,
  CreditAccount,
  Grant,
  Renewal,
  LimitSettlement,
  SliceId,
  AdmissionResult,
} from './admission.ts'

/** `unreachable`: only from the store with a fallback. Whether the settlement happened is unknown. */
export type SettleResult = 'settled' | 'gone' | 'unreachable'

/**
 * `taken`: the organization already has another slice in this store.
 * `stale`: the slice belongs to another epoch, or it is no longer there and cannot be topped up.
 */
export type GrantResult = 'granted' | 'taken' | 'stale' | 'unreachable'
export type CloseResult = 'closed' | 'unreachable'

/** The port to the counters, which are in this process or shared by many nodes. Each call is atomic. */
export type LimitStore = {
  /** Checks all scopes and the credits in one step: everything is taken, or nothing. */
  admit(request: AdmissionRequest): MaybePromise<AdmissionResult>
  /** Frees the slot and corrects tokens and credits to what was used. Works once per request; then the result is `gone`. */
  settle(settlement: LimitSettlement): MaybePromise<SettleResult>
  /** Frees the slot only. The hold stays, because the charge of the request could not be written yet. */
  leave(request: Renewal): MaybePromise<void>
  /** Renews the slots of long requests. Settled and overdue requests are ignored. */
  renew(renewals: readonly Renewal[]): MaybePromise<void>
  /** Opens the organization's slice of credits, or tops up the open one. A top-up never opens a slice. */
  grant(grant: Grant): MaybePromise<GrantResult>
  /** After this no credits are held from the slice. Its open holds can still be settled. */
  close(slice: SliceId): MaybePromise<CloseResult>
  /** Begins to count budgets, or opens their counters. */
  countBudgets(count: BudgetCount): MaybePromise<void>
  /** What running requests hold of these counters of budgets. */
  heldBudgets(organization: string, counters: readonly string[]): MaybePromise<readonly number[]>
  /** What the ledger needs to resolve overdue holds and to check the sums. */
  accounts(organization: string): MaybePromise<readonly CreditAccount[]>
}

type Later<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never

/** What a node has counted without the shared store. */
export type Contribution = {
  readonly use: LimitUsage
  readonly node: string
  /** Increases with every contribution, so that one that arrives twice is counted once. */
  readonly number: number
  /** True: everything that the node has counted, for a store that lost its state. False: what it counted during an outage. */
  readonly isAll: boolean
}

/**
 * `known`: the store already has everything of this node except what it counted during the outage. Nothing was added.
 * `forgotten`: the store lost what this node contributed for the organization, and needs all of it.
 */
export const contributeResults = ['counted', 'known', 'forgotten'] as const
export type ContributeResult = (typeof contributeResults)[number]

/** A remote store that may be unreachable: its methods then throw `LimitStoreError`. */
export type SharedLimitStore = Omit<{ readonly [Name in keyof LimitStore]: Later<LimitStore[Name]> }, 'admit'> & {
  /** `forgotten`: nothing was counted; contribute first. This is also the first result for each organization on a node. */
  admit(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'>
  contribute(contribution: Contribution): Promise<ContributeResult>
  /** The nodes that have contributed all they have since the store last lost anything, including this one if `hasContributed` is true. */
  register(node: string, hasContributed: boolean): Promise<readonly string[]>
  /** Resolves when the store answers. */
  probe(): Promise<void>
}

export const limitStoreFailures = ['unreachable', 'script'] as const

/** `unreachable`: a failure of the network or the server. `script`: the server returned an error, which is a bug. */
export class LimitStoreError extends Error {
  readonly reason: (typeof limitStoreFailures)[number]

  constructor(reason: LimitStoreError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LimitStoreError'
    this.reason = reason
  }
}
