import { DatabaseError } from '../../adapters/stores/sql/database.ts'
import { mapReportError } from '../../adapters/stores/sql/error-mapping.ts'
import { Fault, isFault, type FaultFields } from '../../base/fault.ts'
import type { EncodingKind } from './jobs.ts'

/** Where the thread reads, with connections of its own. */
export type EncodingSource =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string; readonly timeoutMs: number; readonly poolSize: number }

export type EncodingRequest = { readonly id: number; readonly kind: EncodingKind; readonly input: unknown }
export type EncodingReply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: SentError })

/** An error in a form that can be sent between threads. */
type SentError =
  | { readonly fault: FaultFields }
  | { readonly message: string; readonly reason?: DatabaseError['reason'] }

export function toSentError(error: unknown): SentError {
  if (isFault(error)) {
    const { kind, code, message, details } = error
    const { cause: _cause, ...sendable } = details
    return { fault: { kind, code, message, details: sendable } }
  }
  if (error instanceof DatabaseError) return { message: error.message, reason: error.reason }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

export function fromSentError(error: SentError): Error {
  if ('fault' in error) {
    const { kind, code, message, details } = error.fault
    return new Fault(kind, code, message, details)
  }
  const { message, reason } = error
  return reason === undefined ? new Error(message) : mapReportError(new DatabaseError(reason, message))
}
