import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault, toFault } from '../base/fault.ts'
import { parseJsonObject } from '../base/json.ts'
import { bodyDecoder } from './body-encoding.ts'
import type { ReserveBodyMemory } from './body-memory-budget.ts'

export type BodyLimits = { readonly clock: Clock; readonly timeoutMs: number }

/** What a body must be, and how it is read. */
type BodyFormat = { readonly type: RegExp; readonly name: string; readonly parse: (bytes: Buffer) => unknown }

const json: BodyFormat = { type: /^application\/json\s*(;|$)/i, name: 'application/json', parse: parseJsonObject }

/** The form of a page: its fields as texts. */
export const form: BodyFormat = {
  type: /^application\/x-www-form-urlencoded\s*(;|$)/i,
  name: 'application/x-www-form-urlencoded',
  parse: (bytes) => Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))),
}

type Done = (error: Error | null, body?: unknown) => void

/**
 * Reads a body within the route's size limit and the server's timeout. Stops reading when either is exceeded. The limit
 * is for the size after decompression, and decompression ends at it.
 */
export function createBodyParser(limits: BodyLimits, format: BodyFormat = json) {
  // A callback instead of a promise, because this runs for every request.
  return (request: FastifyRequest, stream: IncomingMessage, done: Done): void => {
    const { 'content-type': type, 'content-length': length } = request.headers
    if (type === undefined || !format.type.test(type)) {
      return done(new Fault('malformed', 'invalid_content_type', `Send the body with content-type: ${format.name}.`))
    }
    const limit = request.routeOptions.bodyLimit
    if (Number(length ?? 0) > limit) return done(tooLarge(limit))
    let decoder: Transform | undefined
    try {
      decoder = bodyDecoder(request.headers['content-encoding'])
    } catch (error) {
      return done(toFault(error))
    }
    const { reserveBodyMemory, actor } = request.record ?? {}
    readAll(
      { stream, decoder },
      { ...limits, bytes: limit, reserveBodyMemory, isAuthenticated: actor !== undefined },
      (fault, bytes) => {
        if (fault !== undefined) done(fault)
        // Many clients send a content type even without a body.
        else if (bytes.length === 0 && !takesBody(request)) done(null)
        else parse(format, bytes, done)
      },
    )
  }
}

function parse(format: BodyFormat, bytes: Buffer, done: Done): void {
  let body: unknown
  try {
    body = format.parse(bytes)
  } catch (error) {
    return done(toFault(error))
  }
  done(null, body)
}

/** Set by `routeOptions` in `family.ts`. */
const takesBody = ({ routeOptions }: FastifyRequest): boolean => Reflect.get(routeOptions.config, 'takesBody') !== false

type ReadLimits = BodyLimits & {
  readonly bytes: number
  readonly reserveBodyMemory: ReserveBodyMemory | undefined
  readonly isAuthenticated: boolean
}

const empty = Buffer.alloc(0)

/** The bytes of a request, and their decompression if they are compressed. */
type BodySource = { readonly stream: IncomingMessage; readonly decoder: Transform | undefined }

/** Calls back once: with all bytes, or with the fault that stopped the reading. */
function readAll(
  { stream, decoder }: BodySource,
  { clock, timeoutMs, bytes: limit, reserveBodyMemory, isAuthenticated }: ReadLimits,
  callback: (fault: Fault | undefined, bytes: Buffer) => void,
): void {
  const chunks: Buffer[] = []
  const source: Readable = decoder ?? stream
  let size = 0
  const stop = (fault: Fault | undefined): void => {
    cancel()
    source.off('data', onData).off('end', onEnd).off('error', onBroken)
    stream.off('error', onIncomplete).off('close', onClose)
    if (decoder !== undefined) release(stream, decoder)
    stream.pause()
    const [first = empty] = chunks
    callback(fault, fault === undefined && chunks.length > 1 ? Buffer.concat(chunks, size) : first)
  }
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) stop(tooLarge(limit))
    else if (reserveBodyMemory?.(chunk.length, isAuthenticated) === false) stop(budgetExhausted())
  }
  const onEnd = (): void => stop(undefined)
  const onIncomplete = (cause?: unknown): void =>
    stop(new Fault('malformed', 'invalid_request', 'The body ended before it was complete.', { cause }))
  const onBroken = (cause: unknown): void => (decoder === undefined ? onIncomplete(cause) : stop(broken(cause)))
  // The decompression may still be at work when all bytes have arrived.
  const onClose = (): void => (decoder === undefined || !stream.complete ? onIncomplete() : undefined)
  const cancel = clock.after(timeoutMs, () => stop(tooSlow(timeoutMs)))
  source.on('data', onData).on('end', onEnd).on('error', onBroken)
  if (decoder !== undefined) stream.on('error', onIncomplete).pipe(decoder)
  stream.on('close', onClose)
}

/** Ends the decompression, also in the middle. An error that it reports afterwards is of no interest. */
function release(stream: IncomingMessage, decoder: Transform): void {
  stream.unpipe(decoder)
  decoder.on('error', () => {})
  decoder.destroy()
}

const broken = (cause: unknown): Fault =>
  new Fault('malformed', 'invalid_request', 'The body cannot be decompressed by its content-encoding.', { cause })

const tooSlow = (timeoutMs: number): Fault =>
  new Fault('timeout', 'request_timeout', `The body was not sent within ${Math.ceil(timeoutMs / 1000)} seconds.`)

const tooLarge = (limit: number): Fault =>
  new Fault('too_large', 'body_too_large', `The body is over the limit of ${limit} bytes.`)

const budgetExhausted = (): Fault =>
  new Fault('unavailable', 'unavailable', 'Too many large requests are in flight; try again.', { retryAfterSeconds: 1 })
