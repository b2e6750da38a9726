import type { SpanContext } from '../../base/span-context.ts'
import { announcedId, isDenial, type VerdictFacts } from '../../domain/audit/event/verdict.ts'
import { limitScopes, metrics } from '../../domain/limits/scopes.ts'
import type { LimitStatus } from '../../domain/limits/status.ts'
import type { RequestTrace, TracedAttempt, TracedEnd, TracedModelCall } from '../../domain/tracing/request-trace.ts'
import {
  contentAttributes,
  firstChunkAttribute,
  modelCallAttributes,
  modelCallName,
  type UpstreamFacts,
} from './gen-ai.ts'
import type { TraceSpan, SpanAttributes } from './span.ts'

export type RequestSpansParts = {
  readonly newSpanId: () => string
  readonly upstreams: ReadonlyMap<string, UpstreamFacts>
  /** Redacts personal data in a text. */
  readonly redact: (text: string) => string
  /** Of this server’s own address. */
  readonly scheme: string
}

/** A trace whose request and response have ended. */
type EndedTrace = { readonly trace: RequestTrace; readonly ended: TracedEnd }

/** The spans of one request, the span of the whole request first. */
export function requestSpans(trace: RequestTrace, parts: RequestSpansParts): TraceSpan[] {
  const { ended } = trace
  if (ended === undefined) return []
  const make = createSpanMaker({ trace, ended }, parts)
  const { acceptedUs, admittedUs, checkedUs, firstByteUs } = ended.timing
  const admission = make.inner({
    name: 'gatehouse.admit',
    startUs: acceptedUs,
    endUs: admittedUs ?? trace.endedUs,
    attributes: admissionAttributes(trace),
    isError: admittedUs === undefined,
  })
  const spans = [make.whole(), admission]
  const first = trace.describeFirst?.()
  if (admittedUs !== undefined)
    spans.push(
      ...make.check('request', {
        startUs: admittedUs,
        endUs: checkedUs ?? trace.endedUs,
        attributes: verdictAttributes(first),
        isError: checkedUs === undefined && !isDenied(first),
      }),
    )
  for (const attempt of trace.attempts) spans.push(make.attempt(attempt))
  if (firstByteUs !== undefined)
    spans.push(
      ...make.check('response', {
        startUs: firstByteUs,
        endUs: trace.endedUs,
        attributes: verdictAttributes(responseVerdict(trace)),
        doubles: heldBack(ended),
      }),
    )
  return spans
}

type InnerSpan = Pick<TraceSpan, 'name' | 'startUs' | 'endUs' | 'attributes' | 'doubles'> & {
  readonly isError?: boolean
}

function createSpanMaker({ trace, ended }: EndedTrace, { newSpanId, upstreams, redact, scheme }: RequestSpansParts) {
  const { context, parentSpanId, link } = trace.place
  const offsetUs = Math.round(trace.receivedAtMs * 1000)
  const contextOf = (spanId: string): SpanContext => ({ ...context, spanId })
  const times = (startUs: number, endUs: number): Pick<TraceSpan, 'startUs' | 'endUs'> => ({
    startUs: offsetUs + startUs,
    endUs: offsetUs + endUs,
  })
  const inner = ({ startUs, endUs, ...span }: InnerSpan): TraceSpan => ({
    ...span,
    ...times(startUs, endUs),
    context: contextOf(newSpanId()),
    parentSpanId: context.spanId,
    kind: 'internal',
  })
  return {
    inner,
    whole: (): TraceSpan => ({
      context,
      parentSpanId,
      hasRemoteParent: parentSpanId !== undefined,
      link,
      name: nameOf(ended),
      kind: 'server',
      ...times(0, Math.max(trace.respondedUs, trace.endedUs)),
      attributes: { 'url.scheme': scheme, ...requestAttributes({ trace, ended }) },
      isError: (trace.responseStatus ?? 0) >= 500 || ended.failure?.startsWith('upstream_') === true,
    }),
    /** A check, with the calls to the judge below it. */
    check(direction: 'request' | 'response', span: Omit<InnerSpan, 'name'>): TraceSpan[] {
      const check = inner({ name: `gatehouse.check ${direction}`, ...span })
      const judged = trace.modelCalls.filter((call) => call.direction === direction)
      return [check, ...judged.map((call) => judgeSpan(call, check.context.spanId))]
    },
    attempt(attempt: TracedAttempt): TraceSpan {
      const { target, startUs, endUs } = attempt
      const isLast = attempt === trace.attempts.at(-1)
      const { firstByteUs, answeredUs } = ended.timing
      const hasAnswer = isLast && firstByteUs !== undefined
      return {
        context: contextOf(attempt.spanId),
        parentSpanId: context.spanId,
        name: modelCallName(ended.call.operation.name, target.model),
        kind: 'client',
        ...times(startUs, endUs ?? answeredUs ?? trace.endedUs),
        attributes: {
          'gatehouse.upstream': target.upstream,
          ...attemptAttributes({ trace, ended }, attempt, upstreams.get(target.upstream)),
          ...(hasAnswer && trace.parts.hasContent && contentOf({ trace, ended }, redact)),
        },
        doubles: hasAnswer ? { [firstChunkAttribute]: (firstByteUs - startUs) / 1e6 } : undefined,
        isError: attempt.failure !== undefined || (isLast && answeredUs === undefined && ended.failure !== undefined),
      }
    },
  }

  function judgeSpan({ target, startedMs, endedMs, usage, failure }: TracedModelCall, parent: string): TraceSpan {
    const upstream = upstreams.get(target.upstream)
    return {
      context: contextOf(newSpanId()),
      parentSpanId: parent,
      name: modelCallName('chat', target.model),
      kind: 'client',
      ...times(trace.sinceReceivedUs(startedMs), trace.sinceReceivedUs(endedMs)),
      attributes: {
        'gatehouse.upstream': target.upstream,
        ...modelCallAttributes({ operation: 'chat', model: target.model, upstream, isStream: false, usage, failure }),
      },
      isError: failure !== undefined,
    }
  }
}

const nameOf = ({ call: { origin } }: TracedEnd): string =>
  origin === undefined ? 'request' : `${origin.endpoint.method} ${origin.endpoint.path}`

const maxUserAgentLength = 256

function requestAttributes({ trace, ended }: EndedTrace): SpanAttributes {
  const { caller, requestId, origin } = ended.call
  const verdict = trace.describeLast?.()
  return {
    'http.request.method': origin?.endpoint.method,
    'http.route': origin?.endpoint.path,
    'url.path': origin?.endpoint.path,
    'http.response.status_code': trace.responseStatus || undefined,
    'user_agent.original': origin?.userAgent?.slice(0, maxUserAgentLength),
    'gatehouse.request_id': requestId,
    'gatehouse.event_id': announcedId(ended.end?.policy ?? ended.policy),
    ...(caller.kind !== 'free' && {
      'gatehouse.organization_id': caller.organization.id,
      'gatehouse.project_id': caller.projectId,
    }),
    'gatehouse.decision': verdict?.decision,
    'gatehouse.reason_code': verdict?.reasonCode,
    'error.type': ended.failure,
  }
}

/** The limit that is closest to being reached, and what was held for the request. */
function admissionAttributes({ limitStatus, held }: RequestTrace): SpanAttributes {
  const closest = limitStatus && closestLimit(limitStatus)
  return {
    'gatehouse.limit.scope': closest?.scope,
    'gatehouse.limit.metric': closest?.metric,
    'gatehouse.limit.value': closest?.limit,
    'gatehouse.limit.remaining': closest?.remaining,
    'gatehouse.hold.tokens': held?.tokens,
    'gatehouse.hold.micro_credits': held?.micro ?? undefined,
  }
}

type Closest = { readonly scope: string; readonly metric: string; readonly limit: number; readonly remaining: number }

function closestLimit(status: LimitStatus): Closest | undefined {
  let closest: Closest | undefined
  for (const scope of limitScopes)
    for (const metric of metrics) {
      const usage = status[scope][metric]
      if (usage === null) continue
      if (closest === undefined || usage.remaining * closest.limit < closest.remaining * usage.limit)
        closest = { scope, metric, limit: usage.limit, remaining: usage.remaining }
    }
  return closest
}

const isDenied = (verdict: VerdictFacts | undefined): boolean =>
  verdict !== undefined && verdict.isEnforced && isDenial(verdict.decision)

const verdictAttributes = (verdict: VerdictFacts | undefined): SpanAttributes => ({
  'gatehouse.decision': verdict?.decision,
  'gatehouse.enforced': verdict?.isEnforced,
  'gatehouse.reason_code': verdict?.reasonCode,
  'gatehouse.policies': verdict?.results?.length ?? 0,
  'gatehouse.policy_id': verdict?.policy?.id,
  'gatehouse.policy_version': verdict?.policy?.version,
})

/** The last verdict is on the request and the response together. */
function responseVerdict({ describeLast }: RequestTrace): VerdictFacts | undefined {
  const last = describeLast?.()
  return last?.direction === 'response' || last?.decision === 'allow' ? last : undefined
}

const heldBack = ({ timing: { heldBackUs } }: TracedEnd): TraceSpan['doubles'] =>
  heldBackUs === undefined ? undefined : { 'gatehouse.held_back_ms': heldBackUs / 1000 }

/** Only the last attempt has an answer. */
function attemptAttributes(
  { trace, ended }: EndedTrace,
  attempt: TracedAttempt,
  upstream: UpstreamFacts | undefined,
): SpanAttributes {
  const { target, failure } = attempt
  const { operation, request } = ended.call
  const call = { operation: operation.name, model: target.model, upstream, isStream: request.stream }
  if (attempt !== trace.attempts.at(-1) || ended.timing.firstByteUs === undefined)
    return modelCallAttributes({ ...call, failure: failure ?? ended.failure })
  return modelCallAttributes({
    ...call,
    answeredModel: trace.answeredModel,
    stopReason: ended.end?.stopReason,
    usage: ended.end?.usage ?? ended.charged?.usage,
    failure: ended.timing.answeredUs === undefined ? ended.failure : undefined,
  })
}

const contentOf = ({ trace, ended }: EndedTrace, redact: (text: string) => string): SpanAttributes =>
  contentAttributes(trace.checkedMessages, { text: trace.answerText, stopReason: ended.end?.stopReason }, redact)
