import type { FastifyReply, FastifyRequest } from 'fastify'
import { toUnixSeconds } from '../../base/clock.ts'
import { toFault } from '../../base/fault.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { CalledEndpoint } from '../../domain/audit/event/request-facts.ts'
import { Stopwatch } from '../../base/stopwatch.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { ModelRequest } from '../../domain/inference/request.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import { countRejected } from '../../pipeline/billing/count-rejected.ts'
import { agentSessionOf } from './reading/agent-session.ts'
import { policyLabelsOf } from './reading/policy-headers.ts'
import { callerSpanOf } from './reading/trace-context.ts'
import { droppedHeader, holdBackHeader, switchedModelHeader } from '../gateway-headers.ts'
import { recordError } from '../request-record.ts'
import { writeHead } from './writing/write-head.ts'
import { sendStream } from './writing/sse-reply.ts'
import type { AnswerContext, StreamWriter } from './writing/stream-writer.ts'
import { collectAnswer } from './writing/whole-answer.ts'
import type { InferenceParts, DialectCodec } from './codec.ts'
import { reportResponse, createPartIds, limitHeaders } from './writing/response-parts.ts'

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
  { run, admission, inFlight, startTrace, readTags, clock, ids }: Omit<InferenceParts, 'callerOf'>,
  codec: DialectCodec<Request>,
  endpoint: CalledEndpoint,
): (exchange: InferenceExchange) => Promise<unknown> {
  return async ({ request, reply, body, identify }) => {
    using inFlightRequest = inFlight.begin(reply)
    const caller = await identify()
    const incoming = { body, headers: request.headers, caller }
    const decoded = await countRejected(admission, caller, () => codec.decode(incoming))
    const tags = readTags && (await countRejected(admission, caller, () => readTags(incoming)))
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
      ...(tags && { tags }),
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
        ...switchedModelHeader(answer.modelSwitch),
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
