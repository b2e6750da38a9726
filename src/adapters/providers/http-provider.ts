import { iterable, pending, type IterablePullStream } from '../../base/pull-stream.ts'
import type { SseFrame } from '../../base/sse.ts'
import type { OutOfBandText, Chunk } from '../../domain/inference/events.ts'
import type { Provider, ProviderCall } from '../../domain/inference/provider.ts'
import type { Dialect, ReasoningSignature } from '../../domain/inference/request.ts'
import type { MemoryLease } from './network/answer-memory-budget.ts'
import type { UpstreamAnswer, UpstreamCaller, UpstreamRequest } from './network/call.ts'
import { createCaller } from './network/call.ts'
import type { EncodedRequest, EncodeContext } from './encoding/encoding.ts'
import { createOutOfBandReader, type AnswerShape, type OutOfBandReader } from './decoding/out-of-band.ts'
import type { EventWriter } from './decoding/event-writer.ts'
import type { ConformanceCheck } from './decoding/conformance-check.ts'
import type { FrameCache } from './decoding/frame-cache.ts'
import { createEventWriter } from './decoding/event-writer.ts'
import { brokenAnswer, tooLong } from './failures.ts'
import { createFrameCache } from './decoding/frame-cache.ts'
import type { HttpProviderParts, HttpProviderSettings } from './http-settings.ts'
import type { JsonRecord } from './json-values.ts'
import { parseRecord } from './json-values.ts'
import { createTokenCounter, type CounterSpec } from './token-counter.ts'
import { createToolNames } from './encoding/tool-names.ts'

/** What makes one vendor's format differ from another's. */
export type WireFormat = {
  readonly dialect: Dialect
  /** Our request in their words. */
  encode(encoding: EncodeContext): EncodedRequest
  /** Their answer in our words. */
  createDecoder(write: EventWriter): Decoder
  createFormCheck(): ConformanceCheck
  /** What stands where in its answers. */
  readonly shape: AnswerShape
  /** Its decoder keeps nothing of the texts that it passes on, so it need not see frames that differ in nothing else. */
  readonly forgetsText?: boolean
  /** Where the vendor can count tokens without answering. */
  readonly counter?: CounterSpec
}

/** One answer being read. Pure: no network, no clock. Throws the Fault that the answer tells of. */
export type Decoder = {
  /** One event of a stream; `name` is what its frame was called. */
  event(body: JsonRecord, name: string | undefined): void
  /** A whole answer that was not streamed. */
  document(body: JsonRecord): void
  /** The stream says that it is over, or its bytes have ended. */
  done(): void
  /** Whether a block has begun that will be told of as a whole, once it has ended. */
  readonly isCollecting?: () => boolean
  /** Whether events have told of this as a whole: a text, or a block that only its dialect understands. */
  readonly isTold?: (value: unknown) => boolean
}

/** A provider behind HTTP: a family's translators joined with the network. */
export function createHttpProvider(
  family: WireFormat,
  settings: HttpProviderSettings,
  parts: HttpProviderParts,
): Provider {
  const post = createCaller(settings, parts)
  return {
    name: settings.name,
    dialect: family.dialect,
    infer: (call) => converse({ family, settings, parts, post, call }),
    ...(family.counter && {
      countTokens: createTokenCounter(family.counter, settings, {
        ...parts,
        encode: (call) => encode(family, call, parts),
      }),
    }),
  }
}

type Conversation = {
  readonly family: WireFormat
  readonly settings: HttpProviderSettings
  readonly parts: HttpProviderParts
  readonly post: UpstreamCaller
  readonly call: ProviderCall
}

/** One piece per network read. Ends after the end event, and with a Fault where there is none. */
function converse(conversation: Conversation): IterablePullStream<Chunk> {
  let begun: Begun | undefined
  const lease = conversation.parts.answerMemory.open()
  /** Nobody stops an answer that has failed before its first piece. */
  const fail = (error: unknown): never => {
    lease.release()
    throw error
  }
  const first = async (): Promise<Taken> => takePiece((begun = await begin(conversation, lease)))
  const next = (from: Begun): Taken => {
    try {
      return takePiece(from)
    } catch (error) {
      return fail(error)
    }
  }
  return iterable({
    poll: () => (begun === undefined ? first().catch(fail) : next(begun)),
    onReadable: (wake) => (begun?.answer.kind === 'stream' ? begun.answer.reads.onReadable(wake) : wake()),
    async stop() {
      if (begun?.answer.kind === 'stream') begun.answer.reads.cancel()
      lease.release()
    },
  })
}

type Taken = Chunk | typeof pending | undefined

type Begun = { readonly answer: UpstreamAnswer; readonly reading: Reading }

async function begin(conversation: Conversation, lease: MemoryLease): Promise<Begun> {
  const { family, call, post } = conversation
  const { write, outgoing, sent, onText } = prepare(conversation, lease)
  const answer = await post(outgoing, call.signal, lease)
  // The upstream's own words are worth passing on only to those who speak them.
  const dialect = call.request.original.dialect === family.dialect ? family.dialect : undefined
  const memory = family.forgetsText ? createFrameCache() : undefined
  const form = family.createFormCheck()
  const decoder = family.createDecoder(write)
  const isTold = decoder.isTold ?? (() => false)
  const asideReader = createOutOfBandReader({ sent, stops: call.request.stop, isTold })
  const { shape } = family
  return {
    answer,
    reading: {
      decoder,
      form,
      write,
      memory,
      shape,
      asideReader,
      onText,
      dialect,
      hasBegun: false,
      asides: [],
      failure: undefined,
    },
  }
}

function takePiece({ answer, reading }: Begun): Taken {
  const { write } = reading
  if (write.hasEnded()) return undefined
  if (answer.kind === 'document') return decodeDocument(answer.body, reading)
  for (;;) {
    // What came before a failure has happened: it is given out, and then the failure.
    if (reading.failure !== undefined) throw reading.failure
    const frames = answer.reads.poll()
    if (frames === pending) return pending
    const piece = decodeRead(frames, reading)
    if (reading.hasBegun) answer.reads.begun()
    if (reading.failure !== undefined || write.wasCut()) answer.reads.cancel()
    else if (write.hasEnded()) answer.reads.complete()
    if (piece !== undefined) return piece
  }
}

type Prepared = Pick<Reading, 'write' | 'onText'> & { readonly outgoing: UpstreamRequest; readonly sent: JsonRecord }

function prepare({ family, settings, parts, call }: Conversation, lease: MemoryLease): Prepared {
  const { request, model, requestId } = call
  const toolNames = toolNamesOf(call)
  const encoded = encode(family, call, parts)
  const carryProof = (proof: ReasoningSignature, text: string): ReasoningSignature | undefined => {
    if (request.original.dialect === family.dialect) return proof
    return request.original.dialect === 'chat' ? undefined : parts.proofSeal.seal(proof, { text, model })
  }
  const { estimateTokens } = parts
  const onText = boundText(settings.maxAnswerBytes, lease)
  const write = createEventWriter({
    request,
    requestId,
    model,
    toolNames,
    stops: encoded.stops,
    estimateTokens,
    carryProof,
    onText,
  })
  const wantsStream = encoded.body['stream'] === true
  const accept = wantsStream ? 'text/event-stream' : 'application/json'
  const headers = { ...encoded.headers, accept, 'x-request-id': requestId, ...settings.headers() }
  const body = JSON.stringify(encoded.body)
  return { write, outgoing: { headers, body, wantsStream }, sent: encoded.body, onText }
}

/** Text is kept for as long as the answer lasts, some of it more than once. */
function boundText(maxBytes: number, lease: MemoryLease): (length: number) => void {
  let total = 0
  return (length) => {
    total += length
    if (total > maxBytes) throw tooLong('text', maxBytes)
    lease.take(length)
  }
}

const toolNamesOf = ({ request }: ProviderCall) => createToolNames(request.tools.map((tool) => tool.name))

function encode(family: WireFormat, call: ProviderCall, { proofSeal }: HttpProviderParts): EncodedRequest {
  const thinker = { dialect: family.dialect, model: call.model }
  return family.encode({ call, toolNames: toolNamesOf(call), openProof: (proof) => proofSeal.open(proof, thinker) })
}

type Reading = {
  readonly decoder: Decoder
  readonly form: ConformanceCheck
  readonly write: EventWriter
  readonly memory: FrameCache | undefined
  readonly shape: AnswerShape
  readonly asideReader: OutOfBandReader
  /** Told how much text there is more; throws where it is too much. */
  readonly onText: (length: number) => void
  /** Whose words may be passed on; undefined where nobody understands them, or since they were in bad form. */
  dialect: Dialect | undefined
  hasBegun: boolean
  /** What the frames of this read say that no event tells of. */
  asides: readonly OutOfBandText[]
  /** What ended the answer before its end. */
  failure: Error | undefined
}

function decodeDocument(body: JsonRecord, { decoder, form, write, dialect, shape, asideReader }: Reading): Chunk {
  decoder.document(body)
  const events = write.take()
  if (dialect === undefined || !form.document(body)) return { events }
  const asides = asideReader.read(body, shape.document, { events })
  return { events, original: { kind: 'document', dialect, body }, ...(asides.length > 0 && { asides }) }
}

function decodeRead(frames: readonly SseFrame[] | undefined, reading: Reading): Chunk | undefined {
  const { decoder, write } = reading
  let count = 0
  reading.asides = none
  try {
    if (frames === undefined) finish(decoder, write)
    else for (; count < frames.length && !write.hasEnded(); count++) decodeFrame(frames[count], reading)
  } catch (error) {
    reading.failure = error instanceof Error ? error : new Error(String(error))
  }
  const events = write.take()
  reading.hasBegun ||= events.length > 0
  // Until then there may be pings, which are no answer: what fails now can still be asked elsewhere.
  if (!reading.hasBegun) return undefined
  const { dialect, asides } = reading
  if (dialect === undefined || frames === undefined || count === 0) return events.length > 0 ? { events } : undefined
  const passedOn = count < frames.length ? frames.slice(0, count) : frames
  const original = { kind: 'frames', dialect, frames: passedOn } as const
  const isAhead = decoder.isCollecting?.() === true
  if (!isAhead && asides.length === 0) return { events, original }
  return { events, original, ...(isAhead && { isAhead }), ...(asides.length > 0 && { asides }) }
}

const none: readonly never[] = []

/** The bytes have ended: with them the answer, or it is none. */
function finish(decoder: Decoder, write: EventWriter): void {
  decoder.done()
  if (!write.hasEnded()) throw brokenAnswer('The model’s upstream ended its answer in the middle.')
}

function decodeFrame(frame: SseFrame | undefined, reading: Reading): void {
  if (frame === undefined) return
  const { decoder, form, write, memory } = reading
  const known = memory?.recall(frame)
  if (known !== undefined) return write.delta(known.block, known.text)
  if (frame.data.startsWith('[DONE]')) return decodeDone(frame, reading)
  const body = parseRecord(frame.data)
  if (body === undefined) throw brokenAnswer('The model’s upstream sent a frame that is no JSON object.')
  const waiting = write.waiting()
  decoder.event(body, frame.event)
  if (reading.dialect !== undefined && !(isNamedRight(frame, body) && form.event(body))) reading.dialect = undefined
  const hasAsides = reading.dialect !== undefined && readAsides(frame.data, body, { reading, waiting })
  // What a frame says beside its text may go on in the next one.
  memory?.learn(frame, hasAsides ? undefined : write.textAfter(waiting))
}

/** No JSON, so nothing of it is read: more than the mark itself is not passed on. */
function decodeDone({ event, data }: SseFrame, reading: Reading): void {
  if (event !== undefined || data.trim() !== '[DONE]') reading.dialect = undefined
  reading.decoder.done()
}

function readAsides(
  data: string,
  body: JsonRecord,
  { reading, waiting }: { reading: Reading; waiting: number },
): boolean {
  const { asideReader, shape, write, onText } = reading
  const asides = asideReader.read(body, shape.event, { events: write.eventsAfter(waiting), data })
  for (const { text } of asides) onText(text.length)
  if (asides.length > 0) reading.asides = [...reading.asides, ...asides]
  return asides.length > 0
}

/** Clients go by the name of a frame where it has one. */
const isNamedRight = ({ event }: SseFrame, { type }: JsonRecord): boolean =>
  event === undefined || typeof type !== 'string' || event === type
