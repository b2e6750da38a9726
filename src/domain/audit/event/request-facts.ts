import type { Tags } from '../../costs/tags.ts'
import { totalInputTokens, type InferenceEnd, type Quote, type Usage } from '../../inference/events.ts'
import type { OperationName } from '../../inference/operations.ts'
import type { ModelRequest } from '../../inference/request.ts'
import type { Principal } from '../../identity/principal.ts'
import type { EventFacts, TimingFacts } from './facts.ts'
import type { RequestTiming } from './request-timing.ts'
import { verdictOf, type PolicyObject, type VerdictFacts } from './verdict.ts'

/** How a request ended: with its `end` event, or with an error code in `failure`. */
export type RequestOutcome = {
  /** The upstream that answered; left out if none did. */
  readonly upstream?: string
  /** The model that a budget chose instead of the requested one. */
  readonly modelSwitch?: { readonly model: string; readonly budgetId: string } | undefined
  readonly end?: InferenceEnd
  /** Usage of an interrupted answer that is charged. */
  readonly usage?: Usage
  readonly cost?: Quote
  readonly failure?: string
  /** The `policy` object that the caller gets, unless the decision is a plain `allow`. */
  readonly policy?: PolicyObject | undefined
}

export type ReportedRequest = {
  readonly requestId: string
  readonly caller: Principal
  readonly operation: { readonly name: OperationName }
  readonly request: ModelRequest
  /** The end user from the request header, if there is one. */
  readonly user?: string | undefined
  readonly tags?: Tags | undefined
  readonly origin?: RequestOrigin | undefined
  readonly timeMs: number
  readonly timing: RequestTiming
  /** Until the event was made. */
  readonly totalUs: number
  readonly outcome: RequestOutcome
  /** The full verdict, if the request got as far as the checks. */
  readonly verdict?: VerdictFacts | undefined
} & Pick<EventFacts, 'content' | 'sample'>

/** Where a request came from, and the endpoint that it called. */
export type RequestOrigin = {
  readonly endpoint: CalledEndpoint
  readonly address: string
  readonly userAgent?: string | undefined
  /** The session of the coding agent that sent it, as the agent names it. */
  readonly session?: string | undefined
}

export type CalledEndpoint = {
  readonly method: string
  readonly path: string
  /** The status of a complete answer. */
  readonly status: number
  /** The format of the request, if the path does not tell it. */
  readonly dialect?: string
}

/** The facts of one request to a model. */
export function requestFacts(reported: ReportedRequest): EventFacts {
  const { caller, operation, request, outcome, origin, timing, totalUs } = reported
  const { end, cost, failure, modelSwitch } = outcome
  const model = modelSwitch?.model ?? request.model
  const usage = end?.usage ?? outcome.usage
  return {
    code: 'gateway.request.decided',
    organizationId: caller.organization.id,
    timeMs: reported.timeMs,
    message: messageOf(model, failure),
    requestId: reported.requestId,
    projectId: caller.projectId,
    actor: { kind: caller.kind, userId: reported.user ?? request.user, credentialId: caller.id },
    call: origin && {
      method: origin.endpoint.method,
      path: origin.endpoint.path,
      dialect: origin.endpoint.dialect,
      address: origin.address,
      userAgent: origin.userAgent,
      session: origin.session,
      status: failure === undefined ? origin.endpoint.status : undefined,
      latencyMs: Math.round(totalUs / 1000),
    },
    tags: reported.tags,
    timing: { ...timingFacts(timing), totalUs },
    verdict: reported.verdict ?? verdictOf(outcome.policy),
    model: {
      provider: outcome.upstream ?? 'unknown',
      name: model,
      operation: operation.name,
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
    details: modelSwitch && { requested_model: request.model, switched_by_budget: modelSwitch.budgetId },
    content: reported.content,
    sample: reported.sample,
  }
}

const messageOf = (model: string, failure: string | undefined): string =>
  failure === undefined ? ['Answered by ', model, '.'].join('') : `Not answered by ${model}: ${failure}.`

const timingFacts = (timing: RequestTiming): Omit<TimingFacts, 'totalUs'> => ({
  acceptedUs: timing.acceptedUs,
  admittedUs: timing.admittedUs,
  checkedUs: timing.checkedUs,
  firstByteUs: timing.firstByteUs,
  answeredUs: timing.answeredUs,
  heldBackUs: timing.heldBackUs,
  failedAttempts: timing.failedAttempts,
})
