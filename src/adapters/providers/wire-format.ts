import type { CallerFormat, UpstreamFormat } from '../../domain/inference/formats.ts'
import type { EventWriter } from './decoding/event-writer.ts'
import type { AnswerShape } from './decoding/out-of-band.ts'
import type { EncodedRequest, EncodeContext } from './encoding/encoding.ts'
import type { ReadError } from './failures.ts'
import type { JsonRecord } from './json-values.ts'

/** Everything that is specific to one vendor's API format. `http-provider.ts` combines it with the network. */
export type WireFormat = UpstreamFormat & Codec & (Passthrough | { readonly passthroughFor?: undefined })

type Codec = {
  /** Encodes an inference request as the vendor's request body. */
  encode(context: EncodeContext): EncodedRequest
  /** Creates the decoder of one response. It reports what it decodes to the writer. */
  createDecoder(writer: EventWriter): Decoder
  /**
   * True if the decoder keeps no text of its own. A frame that differs from the previous one only in its text then skips
   * the JSON parser and the decoder (`decoding/frame-cache.ts`).
   */
  readonly allowsFrameCache?: boolean
  /** Set if the vendor has an endpoint that counts tokens. */
  readonly tokenCounter?: TokenCounterSpec
  /** Set if errors of the vendor say more than their status and the fields that all vendors have (`failures.ts`). */
  readonly readError?: ReadError
}

/** What a format needs that callers use as well. */
type Passthrough = {
  readonly passthroughFor: CallerFormat
  createConformanceCheck(): ConformanceCheck
  /** Describes the content of each response field, so that text outside the events can be found and scanned. */
  readonly shape: AnswerShape
}

/** Decodes one response. Pure: no network and no clock. Throws a `Fault` if the response reports an error. */
export type Decoder = {
  /** Decodes one event of a stream. `name` is the SSE event name of its frame. */
  event(body: JsonRecord, name: string | undefined): void
  /** Decodes a whole response that was not streamed. */
  document(body: JsonRecord): void
  /** The stream sent its end marker, or its bytes have ended. */
  done(): void
  /** True while a block is open that becomes one opaque event when it is complete. */
  readonly hasPendingBlock?: () => boolean
  /** True if earlier events already contain this value: a whole text, or an opaque block. */
  readonly isEmitted?: (value: unknown) => boolean
}

/**
 * Decides whether raw frames may be sent to a caller of the same format. Servers that imitate a vendor's API often omit
 * fields that the vendor's SDKs rely on, such as an index, a role or an id. The decoders accept such responses, but SDKs
 * fail on them, so their events are encoded by the gateway instead.
 */
export type ConformanceCheck = {
  /** Checks one event of a stream, in stream order. */
  event(body: JsonRecord): boolean
  document(body: JsonRecord): boolean
}

/** The token counting endpoint of a vendor. */
export type TokenCounterSpec = {
  /** Converts an inference request. `path` is below the inference endpoint. */
  encode(request: EncodedRequest, model: string): { readonly path: string; readonly body: JsonRecord }
  /** The field of the response that holds the count. */
  readonly countField: string
}

/** A counter that takes the body of an inference request without the fields that it rejects. */
export const countWithout = (path: string, omittedFields: readonly string[]): TokenCounterSpec => ({
  encode: ({ body }) => ({
    path,
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !omittedFields.includes(name))),
  }),
  countField: 'input_tokens',
})
