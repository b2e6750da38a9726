import type { ScannedTexts } from '../domain/evaluation/scan/collect-findings.ts'
import type { Model } from '../domain/inference/catalogue.ts'
import type { Countable } from '../domain/inference/count.ts'
import type { Chunk } from '../domain/inference/events.ts'
import type { OperationName } from '../domain/inference/operations.ts'
import type { OutputLimit } from '../domain/inference/output-limit.ts'
import type { Provider, ProviderCall } from '../domain/inference/provider.ts'
import type { Message, ModelRequest } from '../domain/inference/request.ts'

/**
 * What `run.ts` must know about a kind of request; all other steps are the same for every kind. An operation keeps nothing
 * between requests, so it is one object.
 */
export type Operation<Request extends ModelRequest = ModelRequest> = {
  /** For the audit log, metrics and traces. */
  readonly name: OperationName
  /** What is counted as input. The credits and tokens that a request holds are estimated from it. */
  countableOf(request: Request): Countable
  /** The most output of a request for this model, before the limits of its caller. */
  outputLimitOf(request: Request, model: Model): OutputLimit
  /** All texts that the checks scan. */
  textsOf(request: Request): Pick<ScannedTexts, 'texts' | 'joinedFragments' | 'places'>
  /** The request with its texts changed, for a rule that redacts or rephrases. */
  changeTexts(request: Request, change: (text: string) => string): Request
  /** The request as messages, for the audit log and for traces. */
  messagesOf(request: Request): readonly Message[]
  /** Calls an upstream. The last event of the last chunk is the `end`. */
  start(provider: Provider, call: ProviderCall<Request>): AsyncIterable<Chunk>
}
