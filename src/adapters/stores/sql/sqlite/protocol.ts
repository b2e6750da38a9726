import { DatabaseError, UnexpectedRows, type Statement, type StatementResult } from '../database.ts'

/**
 * Messages between the main thread and the database thread. Every request carries steps (lists of statements that are applied all
 * or none) and gets one outcome for each step, so that all requests have the same shape.
 */
export type WorkerRequest = {
  readonly id: number
  readonly kind: RequestKind
  readonly steps: readonly StatementList[]
}

export type RequestKind =
  | 'open'
  | 'read' // on the reader connection
  | 'group' // independent steps that share one fsync
  | 'relaxed group' // the same without an fsync: no step waits for the disk
  | 'commit pending' // so that another connection sees every acknowledged group
  | 'begin' // until commit or rollback, the writer connection belongs to one interactive transaction
  | 'statement'
  | 'commit'
  | 'rollback'
  | 'close'

export type WorkerReply = { readonly id: number; readonly outcomes: readonly StepOutcome[] }

export type StatementList = readonly Statement[]
export type StepOutcome = { readonly results: StatementResult[] } | { readonly failure: Failure }

/** An error in a form that can be sent between threads. */
export type Failure =
  | { readonly reason: DatabaseError['reason']; readonly message: string }
  | { readonly statement: number; readonly changed: number }

export type ReaderOptions = { readonly path: string; readonly busyTimeoutMs: number }

export type WorkerOptions = ReaderOptions & {
  readonly hasRedoLog: boolean
  readonly acceptsLoss: boolean
  readonly flushAfterMs: number
  readonly maxPages?: number
}

export function toError(failure: Failure): Error {
  return 'reason' in failure
    ? new DatabaseError(failure.reason, failure.message)
    : new UnexpectedRows(failure.statement, failure.changed)
}

/** The results of the only step of a request, or its error. */
export function onlyStep(outcomes: readonly StepOutcome[]): StatementResult[] {
  const [outcome] = outcomes
  if (outcome === undefined) return []
  if ('failure' in outcome) throw toError(outcome.failure)
  return outcome.results
}
