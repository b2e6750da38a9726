import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import type { Ids } from '../../base/ids.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { InferenceRequest, ModelRequest } from '../../domain/inference/request.ts'
import type { Caller } from '../../domain/identity/principal.ts'
import type { StartTrace } from '../../domain/tracing/start-trace.ts'
import type { Admission } from '../../pipeline/billing/admission.ts'
import type { Operation } from '../../pipeline/operation.ts'
import type { Run } from '../../pipeline/started-operation.ts'
import type { CallerOf } from '../caller.ts'
import type { InFlight } from './in-flight.ts'
import type { ReadTags } from './reading/tags.ts'
import type { AnswerContext, StreamWriter } from './writing/stream-writer.ts'
import type { WholeAnswer } from './writing/whole-answer.ts'

/** What every inference endpoint needs to answer a request. */
export type InferenceParts = {
  readonly callerOf: CallerOf
  readonly run: Run
  readonly admission: Pick<Admission, 'count'>
  readonly inFlight: InFlight
  /** Undefined if nothing needs the trace of a request. */
  readonly startTrace?: StartTrace | undefined
  /** Undefined if no tags are configured. */
  readonly readTags?: ReadTags | undefined
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
