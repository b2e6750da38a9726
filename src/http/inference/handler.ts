import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import { toFault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { CalledEndpoint } from '../../domain/audit/event/request-facts.ts'
import { Stopwatch } from '../../base/stopwatch.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { InferenceRequest, ModelRequest } from '../../domain/inference/request.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import type { LimitStatus } from '../../domain/limits/status.ts'
import type { RequestTrace } from '../../domain/tracing/request-trace.ts'
import type { StartTrace } from '../../domain/tracing/start-trace.ts'
import type { Admission } from '../../pipeline/billing/admission.ts'
import { countRejected } from '../../pipeline/billing/count-rejected.ts'
import type { Operation } from '../../pipeline/operation.ts'
import type { StartedOperation, Run } from '../../pipeline/run.ts'
import { agentSessionOf } from './reading/agent-session.ts'
import { policyHeaders, policyLabelsOf } from './reading/policy-headers.ts'
import { callerSpanOf } from './reading/trace-context.ts'
import type { CallerOf } from '../caller.ts'
import { droppedHeader, holdBackHeader } from '../gateway-headers.ts'
import type { InFlight } from './in-flight.ts'
import { rateLimitHeaders } from '../rate-limit-headers.ts'
import { recordError } from '../request-record.ts'
import type { Route } from '../route.ts'
import { writeHead } from './writing/write-head.ts'
import { sendStream } from './writing/sse-reply.ts'
import type { AnswerContext, StreamWriter } from './writing/stream-writer.ts'
import { collectAnswer, type WholeAnswer } from './writing/whole-answer.ts'

export const maxInferenceBytes = 32 * 1024 * 1024

export const inferenceErrorStatuses = [400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504] as const

export const InferenceHeaders = Type.Object({
  ...policyHeaders,
  'X-Free-Tier': Type.Optional(
    Type.Enum(['true'], { description: 'Selects the single anonymous free request; send no credential with it.' }),
  ),
})

export type InferenceParts = {
  readonly callerOf: CallerOf
  readonly run: Run
  readonly admission: Pick<Admission, 'count'>
  readonly inFlight: InFlight
  /** Undefined if nothing needs the trace of a request. */
  readonly startTrace?: StartTrace | undefined
  readonly clock: Clock
  readonly ids: Ids
}

/** How an endpoint decodes requests and encodes answers, and the operation that it runs. */
export type DialectCodec<Request extends ModelRequest = InferenceRequest> = {
  readonly operation: Operation<Request>
  /** The path of the endpoint, for the audit log. */
  readonly path: string
  readonly decode: (incoming: Incoming) => DecodedRequest<Request> | Promise<DecodedRequest<Request>>
  readonly newAnswerId: (ids: Ids) => string
  /** Left out by an operation without streams. */
  readonly createWriter?: (context: AnswerContext<Request>) => StreamWriter
  readonly encode: (context: AnswerContext<Request>, answer: WholeAnswer) => Record<string, unknown>
  /** Headers that this dialect's clients read besides `x-request-id`. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>
}

export type Incoming = { readonly body: unknown; readonly headers: FastifyRequest['headers']; readonly caller: Caller }

export type DecodedRequest<Request extends ModelRequest = InferenceRequest> = {
  readonly request: Request
  readonly echo?: Readonly<Record<string, unknown>>
  readonly usesFunctions?: boolean
  /** Taps the outgoing stream. Contexts from `newContext` produce the same ids as the copy sent to the caller. */
  readonly observe?: (chunks: AsyncIterable<Chunk>, newContext: () => AnswerContext<Request>) => AsyncIterable<Chunk>
}

/** Counts a request whose body could not be read against the limits of its key. */
export function createRejectedBodyCounter({ callerOf, admission }: Pick<InferenceParts, 'callerOf' | 'admission'>) {
  return async (request: FastifyRequest): Promise<LimitStatus | undefined> => {
    const caller = await Promise.try(callerOf.principal, request).catch(() => undefined)
    return caller === undefined ? undefined : (await admission.count(caller)).limitStatus
  }
}

/** The handler of a dialect's endpoint. */
export function createInferenceHandler<Request extends ModelRequest>(
  parts: InferenceParts,
  codec: DialectCodec<Request>,
): Route['handle'] {
  const respond = createResponder(parts, codec, { method: 'POST', path: codec.path, status: 200 })
  return (request, reply) =>
    respond({ request, reply, body: request.body, identify: () => parts.callerOf.principalOrFree(request) })
}

/** An HTTP request whose body is or contains the body of a dialect. */
export type InferenceExchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly body: unknown
  readonly identify: () => MaybePromise<Caller>
}

/**
 * Identifies the caller, decodes, runs the operation, and encodes the answer, as one body or as a stream. The same for every
 * dialect. `endpoint` is the one that was called, for the audit log.
 */
export function createResponder<Request extends ModelRequest>(
  { run, admission, inFlight, startTrace, clock, ids }: Omit<InferenceParts, 'callerOf'>,
  codec: DialectCodec<Request>,
  endpoint: CalledEndpoint,
): (exchange: InferenceExchange) => Promise<unknown> {
  return async ({ request, reply, body, identify }) => {
    using inFlightRequest = inFlight.begin(reply)
    const identified = identify()
    const caller = isPromise(identified) ? await identified : identified
    const incoming = { body, headers: request.headers, caller }
    const decoding = countRejected(admission, caller, () => codec.decode(incoming))
    const decoded = isPromise(decoding) ? await decoding : decoding
    const { request: decodedRequest, observe, echo = {}, usesFunctions = false } = decoded
    const origin = {
      endpoint,
      address: request.ip,
      userAgent: request.headers['user-agent'],
      session: agentSessionOf(request.headers),
    }
    const traced = startTrace?.(callerSpanOf(request.headers), request.record?.startMs)
    if (request.record) request.record.traceId = traced?.trace?.place.context.traceId
    if (traced?.trace) reportResponse(reply, traced.trace)
    const callerWait = decodedRequest.stream ? new Stopwatch(clock) : undefined
    const call = {
      ...traced,
      requestId: request.id,
      caller,
      operation: codec.operation,
      request: decodedRequest,
      origin,
      receivedMs: request.record?.startMs,
      purpose: policyLabelsOf(request.headers),
      ...(callerWait && { callerWaitMs: () => callerWait.totalMs() }),
    }
    await using answer = await run({ ...call, signal: inFlightRequest.signal })
    const base = {
      id: codec.newAnswerId(ids),
      model: answer.model,
      createdAtSeconds: toUnixSeconds(clock.nowMs()),
      requestId: request.id,
      request: decodedRequest,
      echo,
      usesFunctions,
    }
    const newContext = (): AnswerContext<Request> => ({ ...base, newId: createPartIds(base.id) })
    const chunks = observe?.(answer.chunks, newContext) ?? answer.chunks
    const response = {
      request,
      chunks,
      callerWait,
      context: newContext(),
      headers: {
        ...codec.headers?.(request.id),
        ...limitHeaders(answer),
        ...droppedHeader([...answer.dropped]),
        ...(decodedRequest.stream && holdBackHeader(answer.requiredCoverage)),
      },
    }
    const writer = decodedRequest.stream ? codec.createWriter?.(response.context) : undefined
    return await (writer ? stream(reply, response, writer) : whole(reply, response))
  }

  async function whole(reply: FastifyReply, { chunks, context, headers }: ResponseInput<Request>): Promise<unknown> {
    const body = JSON.stringify(codec.encode(context, await collectAnswer(chunks)))
    const length = String(Buffer.byteLength(body))
    writeHead(reply, { ...jsonHeaders, 'content-length': length, ...headers }).end(body)
    return reply
  }

  async function stream(reply: FastifyReply, input: ResponseInput<Request>, writer: StreamWriter): Promise<unknown> {
    const { request, chunks, callerWait, headers } = input
    const onFailure = (error: unknown): void => recordError(request, toFault(error))
    await sendStream(reply, { chunks, writer, headers, clock, ...(callerWait && { callerWait }), onFailure })
    return reply
  }
}

/** `close` also follows a disconnect, after which there is no `finish`. */
function reportResponse({ raw }: FastifyReply, trace: RequestTrace): void {
  const report = (): void => trace.onResponded(raw.headersSent ? raw.statusCode : 0)
  if (raw.closed) report()
  else raw.once('close', report)
}

const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

type ResponseInput<Request extends ModelRequest> = {
  readonly request: FastifyRequest
  readonly chunks: AsyncIterable<Chunk>
  /** Set for a stream. */
  readonly callerWait: Stopwatch | undefined
  readonly context: AnswerContext<Request>
  readonly headers: Readonly<Record<string, string>>
}

/** Derives the ids of an answer's parts from the answer's id, so that encoding it twice produces the same ids. */
function createPartIds(answerId: string): Ids {
  let count = 0
  return (prefix) => {
    const own = answerId.slice(answerId.search(/[_-]/) + 1)
    return `${prefix}_${own}${(count++).toString(36).padStart(2, '0')}`
  }
}

const limitHeaders = ({ admission }: StartedOperation): Record<string, string> =>
  admission === null ? {} : rateLimitHeaders(admission.limitStatus)
