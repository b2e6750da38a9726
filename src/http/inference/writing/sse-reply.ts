import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../base/clock.ts'
import { isPromise } from '../../../base/maybe-promise.ts'
import { Fault, toFault } from '../../../base/fault.ts'
import { pullStreamOf, pending, readable, nextOf, type PullStream } from '../../../base/pull-stream.ts'
import type { Chunk } from '../../../domain/inference/events.ts'
import { writeHead } from './write-head.ts'
import { createSseConnection } from './sse-connection.ts'
import type { StreamWriter } from './stream-writer.ts'

export type StreamReply = {
  readonly pieces: AsyncIterable<Chunk>
  readonly writer: StreamWriter
  readonly headers: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Told what broke after the answer had begun, when it is too late for a status. */
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
 * Sends an answer as it comes, one write per piece. A failure before the first piece is thrown, so that it still gets
 * a status of its own; a later one is said in the dialect's words. Settles when the caller has all of it, or has left.
 */
export async function sendStream(reply: FastifyReply, parts: StreamReply): Promise<void> {
  const source = pullStreamOf(parts.pieces)
  using hangUp = watchHangUp(reply.raw)
  await Promise.race([drive(reply, source, parts), hangUp.happened])
  if (!hangUp.hasHappened()) return
  if (!reply.sent) reply.hijack()
  // Not awaited: a source in the middle of a step answers only after it, and nobody is left to wait for it.
  void stop(source, parts)
}

async function drive(reply: FastifyReply, source: PullStream<Chunk>, parts: StreamReply): Promise<void> {
  const { writer, clock, keepAliveMs = 15_000, writeTimeoutMs = 60_000 } = parts
  const first = await nextOf(source)
  if (first === undefined) throw brokenOff()
  const { raw } = reply
  if (isGone(raw)) return
  writeHead(reply, { ...streamHeaders, ...parts.headers })
  const onUnread = (): void => parts.onFailure?.(unread())
  const line = createSseConnection(raw, { clock, keepAliveMs, writeTimeoutMs, onUnread })
  const say = (piece: Chunk): Promise<void> | undefined => {
    const text = writer.forward(piece)
    // The caller need not wait for what the source still has to do.
    return writer.hasEnded() ? line.end(text) : line.send(text)
  }
  try {
    let piece: Chunk | typeof pending | undefined = first
    while (piece !== undefined) {
      const done = piece === pending ? readable(source) : say(piece)
      if (done !== undefined) await done
      if (isGone(raw)) return
      const taken = source.poll()
      piece = isPromise(taken) ? await taken : taken
    }
    if (!writer.hasEnded()) throw brokenOff()
  } catch (error) {
    if (isGone(raw)) return
    parts.onFailure?.(error)
    await line.send(writer.fail(toFault(error)))
    await stop(source, parts)
  }
  await line.end('')
}

/** Never a silent cut: a stream that just stops reads like an answer that is complete. */
const brokenOff = (): Fault =>
  new Fault('upstream_failed', 'upstream_error', 'The response ended before it was complete.')

const unread = (): Fault => new Fault('timeout', 'response_not_read', 'The response was not read in time.')

/** Gives the source a chance to tidy up. What goes wrong there is ours to know, not the caller's. */
async function stop(source: PullStream<Chunk>, { onFailure }: StreamReply): Promise<void> {
  try {
    await source.stop?.()
  } catch (error) {
    onFailure?.(error)
  }
}

/** A response is also destroyed once it is complete. */
const isGone = (raw: FastifyReply['raw']): boolean => raw.destroyed && !raw.writableFinished

type HangUp = Disposable & { readonly happened: Promise<void>; hasHappened(): boolean }

function watchHangUp(raw: FastifyReply['raw']): HangUp {
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
