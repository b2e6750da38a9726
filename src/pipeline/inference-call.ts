import type { MaybePromise } from '../base/maybe-promise.ts'
import type { RequestOrigin } from '../domain/audit/event/request-facts.ts'
import type { VerdictFacts } from '../domain/audit/event/verdict.ts'
import type { Caller } from '../domain/identity/principal.ts'
import type { InferenceRequest } from '../domain/inference/request.ts'

/** A request on the road: who asks what, and on what terms. */
export type InferenceCall = {
  readonly requestId: string
  readonly caller: Caller
  readonly request: InferenceRequest
  /** Where the request came from. */
  readonly origin?: RequestOrigin
  /** What its headers say about whom and what it is for. */
  readonly purpose?: PolicyLabels
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
  /** Told what the checks said, each time they have said more. */
  readonly onVerdict?: (verdict: VerdictFacts) => void
  /** Called once the request is admitted and before any model is asked. Where it throws, the request goes no further. */
  readonly beforeModels?: () => MaybePromise<void>
}

/** The `X-Policy-*` headers. */
export type PolicyLabels = {
  readonly user?: string | undefined
  readonly target?: string | undefined
  readonly policyIds: readonly string[]
}
