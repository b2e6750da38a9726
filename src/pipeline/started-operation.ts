import type { Chunk, Quote, Receipt, Usage } from '../domain/inference/events.ts'
import type { Admitted } from '../domain/limits/admission.ts'
import type { OperationCall } from './operation-call.ts'
import type { EnforcedRequest } from './enforcement/enforce.ts'
import type { Charged } from './billing/lease.ts'

/** An answer that has started. It owns the upstream call, the lease and the quota; dispose of it, read or unread. */
export type StartedOperation = AsyncDisposable & {
  readonly model: string
  readonly upstream: string
  /** Call `bill.pay` before emitting the `end` event; the receipt is attached then. */
  readonly chunks: AsyncIterable<Chunk>
  readonly bill: Bill
  /** Fields of the request that the upstream cannot receive, by their names in the caller's format. */
  readonly dropped: ReadonlySet<string>
  /** How much of the answer the rules require to be evaluated before any of it is sent. */
  readonly requiredCoverage: EnforcedRequest['requiredCoverage']
  /** The admission with the status of the caller's limits; null for the free request. */
  readonly admission: Admitted | null
  readonly modelSwitch?: ModelSwitch | undefined
}

/** A budget does not cover the requested model, so the request went on with another. */
export type ModelSwitch = { readonly model: string; readonly budgetId: string }

/** The price of an answer, and its payment. */
export type Bill = {
  quote(usage: Usage): Quote
  pay(usage: Usage): Promise<Receipt>
  /** Instead of `pay`, for an answer whose end is withheld: it then costs nothing, whatever the caller does next. */
  waive(usage: Usage): Promise<void>
  /** What was charged for an answer that has ended, also for an interrupted one. */
  charged(): Charged | undefined
}

export type Run = (call: OperationCall) => Promise<StartedOperation>
