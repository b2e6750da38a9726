import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../../base/clock.ts'

export type SseConnectionOptions = {
  readonly clock: Clock
  /** After this long without a write, a comment keeps proxies and clients from timing out. */
  readonly keepAliveMs: number
  /** A caller that has not read for this long is disconnected. */
  readonly writeTimeoutMs: number
  /** Called before such a caller is disconnected. */
  readonly onReadTimeout: () => void
}

/** A streamed response with backpressure. */
export type SseConnection = {
  /** Undefined if the text was written; otherwise a promise that settles when the socket has drained. */
  send(text: string): Promise<void> | undefined
  /** Ends the response with this text. Settles when all data was passed to the system, or the caller is gone. */
  end(text: string): Promise<void>
}

/** A comment, because clients of all dialects ignore it, while an unknown event breaks some of them. */
const keepAlive = ': k\n\n'

/** HTTP/1.1 chunked encoding. HTTP/1.0 callers get the text without it. */
const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const lastChunk = '0\r\n\r\n'

type Writable = ServerResponse | Socket

/** Create it after the head is written. */
export function createSseConnection(raw: ServerResponse, options: SseConnectionOptions): SseConnection {
  const { clock, keepAliveMs, writeTimeoutMs, onReadTimeout } = options
  // Node encodes a chunk in four socket writes. One write is cheaper, and it is most of the cost of a chunk.
  const isFramed = raw.chunkedEncoding
  raw.chunkedEncoding = false
  let hasBegun = false
  let lastWriteMs = clock.monotonicMs()
  let cancelKeepAlive = clock.after(keepAliveMs, onIdle)
  // A write may fail while the caller disconnects. Ignore it, because `close` follows.
  raw.on('error', () => {})
  raw.once('close', () => {
    cancelKeepAlive()
    connection?.off('end', sendKeepAlive)
  })
  // A caller that closes its sending side may still read. If it is gone, a write makes its system reset the connection.
  const { socket: connection } = raw
  connection?.once('end', sendKeepAlive)

  /** One timer for the whole stream. It compares the time of the last write, so that writes need not reset it. */
  function onIdle(): void {
    if (raw.writableEnded || raw.destroyed) return
    const idleMs = clock.monotonicMs() - lastWriteMs
    if (idleMs >= keepAliveMs) sendKeepAlive()
    cancelKeepAlive = clock.after(idleMs >= keepAliveMs ? keepAliveMs : keepAliveMs - idleMs, onIdle)
  }

  function sendKeepAlive(): void {
    if (!raw.writableEnded && !target().writableNeedDrain) write(target(), keepAlive)
  }

  /**
   * The first text goes through the response, together with the head. Later text goes directly to the socket, because
   * Node would buffer it until the end of the tick. A pipelined response has no socket until its turn.
   */
  function target(): Writable {
    const { socket } = raw
    return hasBegun && socket !== null && socket.writable ? socket : raw
  }

  function write(to: Writable, text: string): boolean {
    lastWriteMs = clock.monotonicMs()
    hasBegun = true
    return to.write(isFramed ? chunkOf(text) : text)
  }

  /** Waits for the event. Disconnects the caller after the write timeout. */
  const waitFor = (from: Writable, event: 'drain' | 'finish'): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel()
        from.off(event, done)
        raw.off('close', done)
        resolve()
      }
      const cancel = clock.after(writeTimeoutMs, () => {
        onReadTimeout()
        raw.destroy()
      })
      from.once(event, done)
      raw.once('close', done)
    })

  return {
    send(text) {
      if (text === '' || raw.destroyed) return undefined
      const to = target()
      return write(to, text) ? undefined : waitFor(to, 'drain')
    },
    async end(text) {
      cancelKeepAlive()
      if (raw.destroyed || raw.writableFinished) return
      raw.end(isFramed ? (text && chunkOf(text)) + lastChunk : text)
      if (!raw.writableFinished) await waitFor(raw, 'finish')
    },
  }
}
