import { totalInputTokens, type InferenceEnd, type Quote, type Usage } from '../../inference/events.ts'
import type { InferenceRequest } from '../../inference/request.ts'
import type { Principal } from '../../identity/principal.ts'
import type { AuditContent } from './content.ts'
import type { EventFacts } from './facts.ts'
import { verdictOf, type PolicyObject, type VerdictFacts } from './verdict.ts'

/** How a request ended: with its end, or with the code of what went wrong. */
export type RequestOutcome = {
  /** Who answered; unknown where nobody began to. */
  readonly upstream?: string
  readonly end?: InferenceEnd
  /** Of an answer that was interrupted and is charged for. */
  readonly usage?: Usage
  readonly cost?: Quote
  readonly failure?: string
  /** What callers are told of the decision, where it was not plain `allow`. */
  readonly policy?: PolicyObject | undefined
}

export type ReportedRequest = {
  readonly requestId: string
  readonly caller: Principal
  readonly request: InferenceRequest
  /** The end user, where a header names them. */
  readonly user?: string | undefined
  readonly origin?: RequestOrigin | undefined
  readonly timeMs: number
  readonly latencyMs: number
  readonly outcome: RequestOutcome
  /** The decision in full, where the request came as far as the checks. */
  readonly verdict?: VerdictFacts | undefined
  readonly content?: AuditContent | undefined
}

/** Where a request came from, and the endpoint that it called. */
export type RequestOrigin = {
  readonly endpoint: CalledEndpoint
  readonly address: string
  readonly userAgent?: string | undefined
}

export type CalledEndpoint = {
  readonly method: string
  readonly path: string
  /** The status of a complete answer. */
  readonly status: number
}

/** What the log says of one inference request. */
export function requestFacts(told: ReportedRequest): EventFacts {
  const { caller, request, outcome, origin, latencyMs } = told
  const { end, cost, failure } = outcome
  const usage = end?.usage ?? outcome.usage
  return {
    code: 'gateway.request.decided',
    organizationId: caller.organization.id,
    timeMs: told.timeMs,
    message: messageOf(request.model, failure),
    requestId: told.requestId,
    projectId: caller.projectId,
    actor: { kind: caller.kind, userId: told.user ?? request.user, credentialId: caller.id },
    call: origin && {
      method: origin.endpoint.method,
      path: origin.endpoint.path,
      address: origin.address,
      userAgent: origin.userAgent,
      status: failure === undefined ? origin.endpoint.status : undefined,
      latencyMs,
    },
    verdict: told.verdict ?? verdictOf(outcome.policy),
    model: {
      provider: outcome.upstream ?? 'unknown',
      name: request.model,
      inputTokens: usage && totalInputTokens(usage),
      outputTokens: usage?.outputTokens,
      usageSource: usage?.source,
      reportedTokens: usage?.reportedTokens,
      finishReasons: end && [end.stopReason],
      isStream: request.stream,
      creditsUsed: cost?.creditsUsed,
      costUsd: cost?.costUsd,
    },
    failure: failure === undefined ? undefined : { code: failure },
    content: told.content,
  }
}

const messageOf = (model: string, failure: string | undefined): string =>
  failure === undefined ? ['Answered by ', model, '.'].join('') : `Not answered by ${model}: ${failure}.`
