import type { LoggedEvent } from '../../audit/log.ts'
import type { PolicyContent } from '../../policy/content.ts'
import type { BacktestCounts } from './counts.ts'

export const backtestStatuses = ['running', 'completed', 'failed'] as const
export type BacktestStatus = (typeof backtestStatuses)[number]

/** Which events a draft is tried on. */
export type EventChoice = {
  readonly fromMs: number
  /** Before this time. */
  readonly toMs: number
  /** At most so many, the newest first. */
  readonly limit: number
  /** Of these, so many are replayed; always the same ones. */
  readonly samplePercent: number
}

/** What was asked for. The draft is kept as it was: changing it does not change the question. */
export type BacktestOrder = EventChoice & {
  readonly draft: Omit<PolicyContent, 'mode'>
  readonly revision: number
  /** Thresholds to compare, besides the draft's own. */
  readonly thresholds: readonly number[]
}

export type Backtest = {
  readonly id: string
  readonly organizationId: string
  readonly policyId: string
  readonly status: BacktestStatus
  readonly order: BacktestOrder
  /** Events from this sequence on were looked at. */
  readonly cursor: number
  /** The oldest event to look at. */
  readonly firstSequence: number
  readonly done: number
  readonly total: number
  readonly tally: BacktestCounts
  /** Why it failed. */
  readonly error: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Where requests of a time lie in the log: from the first to the last sequence, and how many there are. */
export type EventSpan = { readonly first: number; readonly last: number; readonly count: number }

/** Backtests as they are asked for and read. */
export type BacktestStore = {
  span(organizationId: string, choice: Pick<EventChoice, 'fromMs' | 'toMs'>): Promise<EventSpan>
  insert(backtest: Backtest): Promise<void>
  find(organizationId: string, policyId: string, id: string): Promise<Backtest | undefined>
  countRunning(organizationId: string): Promise<number>
}

/** Backtests as they are worked off: each by one node at a time, which holds a lease of it. */
export type BacktestQueue = {
  /** One that runs and that nobody works on. */
  claim(): Promise<Backtest | undefined>
  /** The next events to look at, the newest first. */
  events(backtest: Backtest, limit: number): Promise<readonly LoggedEvent[]>
  /** Writes how far it has come and keeps the lease; false where it is no longer ours, and then nothing is written. */
  save(backtest: Backtest, cursorBefore: number): Promise<boolean>
  release(id: string): Promise<void>
}
