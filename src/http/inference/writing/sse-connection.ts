import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../../base/clock.ts'

export type SseConnectionOptions = {
  readonly clock: Clock
  /** After this much silence a comment shows proxies and clients that we are still here. */
  readonly keepAliveMs: number
  /** A caller who has not read for this long is gone, whatever the network says. */
  readonly writeTimeoutMs: number
  /** Told before such a caller is cut off. */
  readonly onUnread: () => void
}

/** A response that is written as it comes, no faster than its reader reads. */
export type SseConnection = {
  /** Undefined where the text went straight out; otherwise settles once there is room again. */
  send(text: string): Promise<void> | undefined
  /** Sends the last words. Settles once the system has taken over all that was sent, or the reader is gone. */
  end(text: string): Promise<void>
}

/** A comment: no dialect's clients mind it, while an event of any kind breaks some of them. */
const keepAlive = ': k\n\n'

/** How HTTP/1.1 sends a body whose length nobody knows yet; to older callers it goes as it is. */
const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const lastChunk = '0\r\n\r\n'

type Way = ServerResponse | Socket

/** To be made once the head is written. */
export function createSseConnection(raw: ServerResponse, options: SseConnectionOptions): SseConnection {
  const { clock, keepAliveMs, writeTimeoutMs, onUnread } = options
  // Node frames a chunk in four writes to the socket. We frame it ourselves, in one: it is most of what a chunk costs.
  const isFramed = raw.chunkedEncoding
  raw.chunkedEncoding = false
  let hasBegun = false
  let lastWriteMs = clock.monotonicMs()
  let cancelKeepAlive = clock.after(keepAliveMs, onSilence)
  // A write that races with the reader's leaving fails; its leaving is all that matters, and `close` tells that.
  raw.on('error', () => {})
  raw.once('close', () => {
    cancelKeepAlive()
    connection?.off('end', sendKeepAlive)
  })
  // A caller that closes its sending side may still read. One that is gone resets the connection when it is sent something.
  const { socket: connection } = raw
  connection?.once('end', sendKeepAlive)

  /** One timer for the whole stream: it looks at the time of the last write instead of being set anew by each. */
  function onSilence(): void {
    if (raw.writableEnded || raw.destroyed) return
    const silentMs = clock.monotonicMs() - lastWriteMs
    if (silentMs >= keepAliveMs) sendKeepAlive()
    cancelKeepAlive = clock.after(silentMs >= keepAliveMs ? keepAliveMs : keepAliveMs - silentMs, onSilence)
  }

  function sendKeepAlive(): void {
    if (!raw.writableEnded && !way().writableNeedDrain) write(way(), keepAlive)
  }

  /**
   * The head leaves with the first text, through the response. What follows goes to its socket straight away: Node would
   * gather it until the end of the turn, for texts that never come. A response that waits for its turn has no socket yet.
   */
  function way(): Way {
    const { socket } = raw
    return hasBegun && socket !== null && socket.writable ? socket : raw
  }

  function write(to: Way, text: string): boolean {
    lastWriteMs = clock.monotonicMs()
    hasBegun = true
    return to.write(isFramed ? chunkOf(text) : text)
  }

  /** Waits for the event, but no longer than a reader may take. */
  const waitFor = (from: Way, event: 'drain' | 'finish'): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel()
        from.off(event, done)
        raw.off('close', done)
        resolve()
      }
      const cancel = clock.after(writeTimeoutMs, () => {
        onUnread()
        raw.destroy()
      })
      from.once(event, done)
      raw.once('close', done)
    })

  return {
    send(text) {
      if (text === '' || raw.destroyed) return undefined
      const to = way()
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
