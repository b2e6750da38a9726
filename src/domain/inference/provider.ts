import type { Chunk } from './events.ts'
import type { Dialect, InferenceRequest } from './request.ts'

/** What the road asks of an upstream. */
export type ProviderCall = {
  readonly request: InferenceRequest
  /** The upstream's own name for the model. */
  readonly model: string
  /** The most it may write, already bounded by the catalogue. */
  readonly maxOutputTokens: number
  readonly requestId: string
  /** Aborted when the caller hangs up, the answer is disposed of, or a deadline passes. */
  readonly signal: AbortSignal
  /** Told what could not be carried over to this upstream, by the caller's name for it. */
  readonly onDropped: (what: string) => void
}

/** The port to a model upstream. Its adapters live in `adapters/providers`. */
export type Provider = {
  readonly name: string
  /** What it speaks; same-dialect callers get its own bytes. `echo` speaks none. */
  readonly dialect: Dialect | undefined
  /**
   * Calls the upstream at the first `next()`. Throws a Fault (`upstream_*`, `validation`) before the first piece
   * where the call failed as a whole: the router may then try the next target. Ends only after an `end` event;
   * an upstream that stops without one is a thrown Fault.
   */
  infer(call: ProviderCall): AsyncIterable<Chunk>
  /** Where the upstream has a counter of its own. */
  readonly countTokens?: (call: Pick<ProviderCall, 'request' | 'model' | 'signal'>) => Promise<number>
}
