import type { GatewayConfiguration } from '../../gateway-config/configuration.ts'
import type { PolicyContent } from '../../policy/content.ts'
import type { Page, Paged } from '../../identity/store.ts'
import type { BacktestCounts } from './counts.ts'
import type { GatewayBacktestCounts } from './gateway-counts.ts'
import type { StoredRequest } from './replay-texts.ts'

export const backtestStatuses = ['running', 'completed', 'failed', 'cancelled'] as const
export type BacktestStatus = (typeof backtestStatuses)[number]

/** Which events are replayed. */
export type EventChoice = {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Maximum number of events, newest first. */
  readonly limit: number
  /** Share of these events that is replayed. The sample is deterministic. */
  readonly samplePercent: number
}

/** The parameters of a backtest of a draft. The draft is a copy: later edits of the policy do not affect a running backtest. */
export type BacktestParameters = EventChoice & {
  readonly draft: Omit<PolicyContent, 'mode'>
  readonly revision: number
  /** Whether fields of the draft were replaced for this backtest only. */
  readonly hasChanges?: boolean
  /** Thresholds to compare, in addition to the draft's own. */
  readonly thresholds: readonly number[]
}

export type GatewayBacktestParameters = EventChoice & {
  readonly config: GatewayConfiguration
}

type BacktestProgress = {
  readonly id: string
  readonly organizationId: string
  readonly status: BacktestStatus
  /** Events from this sequence number on were replayed. `notStarted` until the runner has found the events. */
  readonly cursor: number
  /** The oldest event to replay. */
  readonly firstSequence: number
  readonly done: number
  /** Until the runner has found the events, the most that it may replay. */
  readonly total: number
  /** Why it failed or was cancelled. */
  readonly error: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A backtest of the draft of a policy. */
export type Backtest = BacktestProgress & {
  readonly policyId: string
  readonly parameters: BacktestParameters
  readonly counts: BacktestCounts
}

/** A backtest of a gateway configuration that is not saved yet. */
export type GatewayBacktest = BacktestProgress & {
  readonly policyId: null
  readonly parameters: GatewayBacktestParameters
  readonly counts: GatewayBacktestCounts
}

export type AnyBacktest = Backtest | GatewayBacktest

/** Above every sequence number. */
export const notStarted = Number.MAX_SAFE_INTEGER

/** The requests of a time range in the audit log: first and last sequence number, and their count. */
export type EventSpan = { readonly first: number; readonly last: number; readonly count: number }

/** Stores backtests for the API: those of policies, or those of the gateway configuration. */
export type BacktestStore<B extends AnyBacktest = Backtest> = {
  insert(backtest: B): Promise<void>
  find(organizationId: string, policyId: B['policyId'], id: string): Promise<B | undefined>
  /** The backtests of a policy, or of the gateway configuration. */
  list(organizationId: string, policyId: B['policyId'], page: Page): Promise<Paged<B>>
  /** All of the organization, whatever they are of. */
  countRunning(organizationId: string): Promise<number>
  /** Ends a running backtest. Returns false if it is not running. The progress of the node that works on it is no longer saved. */
  cancel(backtest: Pick<B, 'organizationId' | 'id' | 'error'>, atMs: number): Promise<boolean>
}

/** The work queue of the runner. One node at a time works on a backtest, under a lease. */
export type BacktestQueue = {
  /** Leases a running backtest that no node works on. */
  claim(): Promise<AnyBacktest | undefined>
  /** Reads all requests of the period, which may take seconds. */
  span(backtest: AnyBacktest): Promise<EventSpan>
  /** The next events to replay, newest first. */
  events(backtest: AnyBacktest, limit: number): Promise<readonly StoredRequest[]>
  /** Saves the progress and renews the lease. Returns false, and writes nothing, if the lease was lost. */
  save(backtest: AnyBacktest, cursorBefore: number): Promise<boolean>
  release(id: string): Promise<void>
}
