import type { MaybePromise } from '../base/maybe-promise.ts'
import type { SpanContext } from '../base/span-context.ts'
import type { RequestOrigin } from '../domain/audit/event/request-facts.ts'
import type { RequestTiming } from '../domain/audit/event/request-timing.ts'
import type { VerdictFacts } from '../domain/audit/event/verdict.ts'
import type { Tags } from '../domain/costs/tags.ts'
import type { Caller } from '../domain/identity/principal.ts'
import type { Chunk } from '../domain/inference/events.ts'
import type { ModelRequest } from '../domain/inference/request.ts'
import type { RequestTrace } from '../domain/tracing/request-trace.ts'
import type { Operation } from './operation.ts'

/** A request in the pipeline, with its caller and the hooks of the outer layers. */
export type OperationCall<Request extends ModelRequest = ModelRequest> = {
  readonly operation: Operation<Request>
  readonly requestId: string
  readonly caller: Caller
  readonly request: Request
  /** The client and the endpoint, for the audit log. */
  readonly origin?: RequestOrigin
  /** When the request was received, by the monotonic clock. */
  readonly receivedMs?: number | undefined
  /** Called when a step ends, for the audit log. */
  readonly timing?: RequestTiming
  /** Undefined if the request is not sampled. */
  readonly trace?: RequestTrace
  /** The span of the caller, for the upstreams of a request that is not sampled. */
  readonly callerSpan?: SpanContext
  /** The policy labels that the caller sent outside the body. */
  readonly purpose?: PolicyLabels
  /** Undefined if the request has none. */
  readonly tags?: Tags
  /** Aborted when the caller disconnects or the server shuts down. */
  readonly signal: AbortSignal
  /** How long the gateway has waited so far for the caller to read its stream. */
  readonly callerWaitMs?: () => number
  /** Called each time the verdict of the checks changes. `describe` formats it for the audit log. */
  readonly onVerdict?: (describe: () => VerdictFacts) => void
  /** Called with the chunks of a response that are not sent because a check denied it. Undefined if texts are not kept. */
  readonly onWithheld?: (chunks: readonly Chunk[]) => void
  /** Called when the request is admitted, before any model is called. If it throws, the request ends. */
  readonly beforeModels?: () => MaybePromise<void>
}

/** Labels that select policies: the end user, the target, and policies by id. */
export type PolicyLabels = {
  readonly user?: string | undefined
  readonly target?: string | undefined
  readonly policyIds: readonly string[]
}
