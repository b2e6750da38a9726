import type { Clock } from '../../base/clock.ts'
import type { FaultKind } from '../../base/fault.ts'
import type { SpanContext } from '../../base/span-context.ts'
import type { RequestOrigin } from '../audit/event/request-facts.ts'
import type { RequestTiming } from '../audit/event/request-timing.ts'
import type { PolicyObject, VerdictFacts } from '../audit/event/verdict.ts'
import type { Caller } from '../identity/principal.ts'
import type { ModelTarget } from '../inference/catalogue.ts'
import type { Chunk, InferenceEnd, Usage } from '../inference/events.ts'
import type { OwnModelCall } from '../inference/own-model-call.ts'
import type { OperationName } from '../inference/operations.ts'
import type { Message, ModelRequest } from '../inference/request.ts'
import type { LimitStatus } from '../limits/status.ts'

/** Where the spans of a request belong. */
export type TracePlace = {
  /** The span of the whole request. */
  readonly context: SpanContext
  /** The caller's span, if its trace is continued. */
  readonly parentSpanId?: string | undefined
  /** The caller's span, if the request has a trace of its own that links to it. */
  readonly link?: SpanContext | undefined
}

export type RequestTraceParts = {
  readonly clock: Clock
  readonly newSpanId: () => string
  /** Whether the texts of the request and the answer are collected. */
  readonly hasContent: boolean
  /** Called once, when both the pipeline and the response have ended. */
  readonly onFinished: (trace: RequestTrace) => void
}

/** A call to an upstream. Times are microseconds since the request was received. */
export type TracedAttempt = {
  readonly target: ModelTarget
  readonly spanId: string
  readonly startUs: number
  /** Undefined if it did not fail before its answer began. */
  endUs: number | undefined
  failure: string | undefined
}

/** Micro-credits are null for an organization without metering. */
export type HeldForRequest = { readonly tokens: number; readonly micro: number | null }

export type TracedModelCall = OwnModelCall & { readonly direction: string }

/** How the pipeline ended. */
export type TracedEnd = {
  readonly call: {
    readonly requestId: string
    readonly caller: Caller
    readonly operation: { readonly name: OperationName }
    readonly request: ModelRequest
    readonly origin?: RequestOrigin
  }
  readonly timing: RequestTiming
  readonly end?: InferenceEnd
  readonly failure?: FaultKind | 'caller_left'
  readonly charged?: { readonly usage: Usage } | undefined
  readonly policy?: PolicyObject | undefined
}

/** Longer answers are cut off. More than a span keeps, so that personal data at its cut is recognised. */
const maxTextLength = 66 * 1024

/** A long stream may be judged many times. Later calls have no span. */
const maxModelCalls = 100

/**
 * Collects what the spans of one request report and `RequestTiming` does not have. Only a sampled request has one, so a
 * request that is not sampled costs nothing. The spans are made from it after the response has ended.
 */
export class RequestTrace {
  readonly parts: RequestTraceParts
  readonly place: TracePlace
  readonly receivedMs: number
  /** Wall clock, Unix milliseconds. */
  readonly receivedAtMs: number
  readonly attempts: TracedAttempt[] = []
  readonly modelCalls: TracedModelCall[] = []
  limitStatus: LimitStatus | undefined = undefined
  held: HeldForRequest | undefined = undefined
  /** The first verdict is that of the request, the last one also has the decisions on the response. */
  describeFirst: (() => VerdictFacts) | undefined = undefined
  describeLast: (() => VerdictFacts) | undefined = undefined
  /** The name of the model in the upstream's answer. */
  answeredModel: string | undefined = undefined
  answerText = ''
  /** The messages as they were sent to the model. Undefined without texts, and if the checks did not allow them. */
  checkedMessages: readonly Message[] | undefined = undefined
  ended: TracedEnd | undefined = undefined
  endedUs = 0
  /** The status of the response and when its last byte was sent. */
  responseStatus: number | undefined = undefined
  respondedUs = 0

  constructor(parts: RequestTraceParts, place: TracePlace, receivedMs: number = parts.clock.monotonicMs()) {
    this.parts = parts
    this.place = place
    this.receivedMs = receivedMs
    this.receivedAtMs = parts.clock.nowMs() - (parts.clock.monotonicMs() - receivedMs)
  }

  /** The status of the caller's limits after they were checked. `held` is undefined if they rejected the request. */
  onLimits(status: LimitStatus | undefined, held: HeldForRequest | undefined): void {
    this.limitStatus ??= status
    this.held ??= held
  }

  onVerdict(describe: () => VerdictFacts): void {
    this.describeFirst ??= describe
    this.describeLast = describe
  }

  /** Called with the messages as the checks allow them to be sent: rephrased or redacted if a rule requires it. */
  onChecked(messages: readonly Message[]): void {
    if (this.parts.hasContent) this.checkedMessages = messages
  }

  /** Returns the span of the call, which the upstream may continue. */
  onAttempt(target: ModelTarget): SpanContext {
    const spanId = this.parts.newSpanId()
    this.attempts.push({ target, spanId, startUs: this.elapsedUs(), endUs: undefined, failure: undefined })
    return { ...this.place.context, spanId }
  }

  onFailedAttempt(code: string): void {
    const last = this.attempts.at(-1)
    if (last === undefined) return
    last.endUs = this.elapsedUs()
    last.failure = code
  }

  onModelCall(call: OwnModelCall, direction: string): void {
    if (this.modelCalls.length < maxModelCalls) this.modelCalls.push({ ...call, direction })
  }

  /** Called for each chunk that is sent to the caller. */
  onChunk({ events }: Chunk): void {
    for (const event of events) {
      if (event.type === 'start') this.answeredModel ??= event.model
      else if (event.type === 'delta' && this.parts.hasContent && this.answerText.length < maxTextLength)
        this.answerText += event.text.slice(0, maxTextLength - this.answerText.length)
    }
  }

  onEnded(ended: TracedEnd): void {
    this.ended = ended
    this.endedUs = this.elapsedUs()
    this.finishIfOver()
  }

  /** The status is 0 if the caller disconnected before it was sent. */
  onResponded(status: number): void {
    this.responseStatus = status
    this.respondedUs = this.elapsedUs()
    this.finishIfOver()
  }

  elapsedUs(): number {
    return this.sinceReceivedUs(this.parts.clock.monotonicMs())
  }

  sinceReceivedUs(monotonicMs: number): number {
    return Math.round((monotonicMs - this.receivedMs) * 1000)
  }

  /** A caller that disconnects ends the response before the pipeline; otherwise the pipeline ends first. */
  finishIfOver(): void {
    if (this.ended !== undefined && this.responseStatus !== undefined) this.parts.onFinished(this)
  }
}
