import type { MaybePromise } from '../../base/maybe-promise.ts'
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

/** `unreachable`: said only by the store with a fallback; whether it happened is not known. */
export type SettleResult = 'settled' | 'gone' | 'unreachable'

/**
 * `taken`: the organization has another live slice; spend from that one.
 * `stale`: the slice belongs to a life of the store that is over, or is not there to be raised.
 */
export type GrantResult = 'granted' | 'taken' | 'stale' | 'unreachable'
export type CloseResult = 'closed' | 'unreachable'

/** The port to the counters: in this process, or shared by many nodes. Each call is one atomic step. */
export type LimitStore = {
  /** Decides over all scopes and the credits at once: everything is taken, or nothing. */
  admit(request: AdmissionRequest): MaybePromise<AdmissionResult>
  /** Gives the place back and corrects tokens and credits to what was used. Once; then it is `gone`. */
  settle(settlement: LimitSettlement): MaybePromise<SettleResult>
  /** Gives the place back and nothing else: what the request used could not be written down, and its hold waits for that. */
  leave(request: Renewal): MaybePromise<void>
  /** Keeps the places of long requests. One that is settled or overdue is left alone. */
  renew(renewals: readonly Renewal[]): MaybePromise<void>
  /** Opens the organization's slice of credits, or raises the open one. Raising never opens. */
  grant(grant: Grant): MaybePromise<GrantResult>
  /** After this nothing more is taken from the slice. Its open holds can still be settled. */
  close(slice: SliceId): MaybePromise<CloseResult>
  /** What the ledger needs to resolve overdue holds and to check the sums. */
  accounts(organization: string): MaybePromise<readonly CreditAccount[]>
}

type Later<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Promise<Awaited<Result>>
  : never

/** What a node has counted by itself. */
export type Contribution = {
  readonly use: LimitUsage
  readonly node: string
  /** Ascends: a contribution that arrives twice is counted once. */
  readonly number: number
  /** All that the node has, for a store that has lost it; otherwise what it counted while the store was out of reach. */
  readonly isAll: boolean
}

/**
 * `known`: the store has all of this node but what it counted while the store was out of reach. It added nothing.
 * `forgotten`: the store has lost what this node contributed for the organization, and wants all of it.
 */
export const contributeResults = ['counted', 'known', 'forgotten'] as const
export type ContributeResult = (typeof contributeResults)[number]

/** A store that lives elsewhere and may be out of reach: its methods throw `LimitStoreError`. */
export type SharedLimitStore = Omit<{ readonly [Name in keyof LimitStore]: Later<LimitStore[Name]> }, 'admit'> & {
  /** `forgotten`: nothing was counted; contribute first. It is so for every organization that a node meets first. */
  admit(request: AdmissionRequest): Promise<AdmissionResult | 'forgotten'>
  contribute(contribution: Contribution): Promise<ContributeResult>
  /** The nodes that have contributed all they have since the store last lost anything; with this one, if it says so. */
  attend(node: string, hasContributed: boolean): Promise<readonly string[]>
  /** Resolves when the store answers. */
  probe(): Promise<void>
}

export const limitStoreFailures = ['unreachable', 'script'] as const

/** `unreachable`: the network or the server. `script`: the server answered with an error, which is our bug. */
export class LimitStoreError extends Error {
  readonly reason: (typeof limitStoreFailures)[number]

  constructor(reason: LimitStoreError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LimitStoreError'
    this.reason = reason
  }
}
