import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../base/clock.ts'
import { isPromise } from '../../../base/maybe-promise.ts'
import { Fault, toFault } from '../../../base/fault.ts'
import type { Stopwatch } from '../../../base/stopwatch.ts'
import { pullStreamOf, pending, readable, nextOf, type PullStream } from '../../../base/pull-stream.ts'
import type { Chunk } from '../../../domain/inference/events.ts'
import { writeHead } from './write-head.ts'
import { createSseConnection } from './sse-connection.ts'
import type { StreamWriter } from './stream-writer.ts'

export type StreamReply = {
  readonly chunks: AsyncIterable<Chunk>
  readonly writer: StreamWriter
  readonly headers: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Runs while the caller's socket is full. */
  readonly callerWait?: Pick<Stopwatch, 'start' | 'stop'>
  /** Called with an error after the response has begun, when it is too late for a status. */
  readonly onFailure?: (error: unknown) => void
  readonly keepAliveMs?: number
  readonly writeTimeoutMs?: number
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/**
 * Streams an answer, one write per chunk. Throws an error that happens before the first chunk, so that it gets an HTTP
 * status. A later error becomes an event of the dialect. Settles when the caller has read everything or disconnected.
 */
export async function sendStream(reply: FastifyReply, parts: StreamReply): Promise<void> {
  const source = pullStreamOf(parts.chunks)
  using disconnect = watchDisconnect(reply.raw)
  await Promise.race([drive(reply, source, parts), disconnect.happened])
  if (!disconnect.hasHappened()) return
  if (!reply.sent) reply.hijack()
  // Not awaited, because the source may take long to stop and no caller is waiting.
  void stop(source, parts)
}

async function drive(reply: FastifyReply, source: PullStream<Chunk>, parts: StreamReply): Promise<void> {
  const { writer, clock, keepAliveMs = 15_000, writeTimeoutMs = 60_000 } = parts
  const first = await nextOf(source)
  if (first === undefined) throw endedEarly()
  const { raw } = reply
  if (isGone(raw)) return
  writeHead(reply, { ...streamHeaders, ...parts.headers })
  const onReadTimeout = (): void => parts.onFailure?.(notRead())
  const connection = createSseConnection(raw, { clock, keepAliveMs, writeTimeoutMs, onReadTimeout })
  const write = (chunk: Chunk): Promise<void> | undefined => {
    const text = writer.forward(chunk)
    // End the response at once; the caller need not wait for the source to finish.
    return writer.hasEnded() ? connection.end(text) : connection.send(text)
  }
  try {
    let chunk: Chunk | typeof pending | undefined = first
    while (chunk !== undefined) {
      if (chunk === pending) await readable(source)
      else {
        const draining = write(chunk)
        if (draining !== undefined) await waitForCaller(draining, parts)
      }
      if (isGone(raw)) return
      const polled = source.poll()
      chunk = isPromise(polled) ? await polled : polled
    }
    if (!writer.hasEnded()) throw endedEarly()
  } catch (error) {
    if (isGone(raw)) return
    parts.onFailure?.(error)
    await connection.send(writer.fail(toFault(error)))
    await stop(source, parts)
  }
  await connection.end('')
}

/** Waits until the caller's socket has taken the text. */
async function waitForCaller(draining: Promise<void>, { callerWait }: StreamReply): Promise<void> {
  callerWait?.start()
  await draining
  callerWait?.stop()
}

/** A stream that just stops would look like a complete answer, so it ends with this error. */
const endedEarly = (): Fault =>
  new Fault('upstream_failed', 'upstream_error', 'The response ended before it was complete.')

const notRead = (): Fault => new Fault('timeout', 'response_not_read', 'The response was not read in time.')

/** Lets the source release its resources. Errors go to the log, not to the caller. */
async function stop(source: PullStream<Chunk>, { onFailure }: StreamReply): Promise<void> {
  try {
    await source.stop?.()
  } catch (error) {
    onFailure?.(error)
  }
}

/** Node also destroys a response that is complete. */
const isGone = (raw: FastifyReply['raw']): boolean => raw.destroyed && !raw.writableFinished

type Disconnect = Disposable & { readonly happened: Promise<void>; hasHappened(): boolean }

function watchDisconnect(raw: FastifyReply['raw']): Disconnect {
  const { promise, resolve } = Promise.withResolvers<void>()
  let happened = false
  const onClose = (): void => {
    happened = isGone(raw)
    if (happened) resolve()
  }
  if (raw.destroyed) onClose()
  raw.once('close', onClose)
  return { happened: promise, hasHappened: () => happened, [Symbol.dispose]: () => raw.off('close', onClose) }
}
