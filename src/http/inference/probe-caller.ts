import type { ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'

/** Doubled each time: some clients take no more than a handful of interim answers. */
const firstProbeMs = 15_000
const firstLookMs = 25
const mostLookMs = 1_000

/**
 * Finds out whether a caller that has closed its sending side still reads. One that is gone looks the same until we send it
 * something: its system then resets the connection, and `close` of the response tells. An interim 100 can be sent before any
 * answer, because clients of HTTP/1.1 discard it. A stream that has begun sends comments itself (`sse-line.ts`).
 */
export function probeCaller(raw: ServerResponse, clock: Clock): void {
  const { socket, httpVersionMinor } = raw.req
  const isOver = (): boolean => raw.destroyed || raw.writableEnded

  function probe(nextMs: number): void {
    if (isOver() || raw.headersSent || httpVersionMinor === 0) return
    // A pipelined request waits for the answers before it and has no socket until then.
    if (raw.socket !== null) raw.writeContinue()
    clock.after(nextMs, () => probe(nextMs * 2))
  }

  /** Node does not read a connection after its end, and so misses the reset. To write nothing sends nothing, and reports it. */
  function look(nextMs: number): void {
    if (isOver()) return
    socket.write('')
    clock.after(nextMs, () => look(Math.min(nextMs * 2, mostLookMs)))
  }

  probe(firstProbeMs)
  setImmediate(look, firstLookMs)
}
