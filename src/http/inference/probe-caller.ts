import type { ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'

/** Doubled each time, because some clients accept only a few interim responses. */
const firstProbeMs = 15_000
const firstCheckMs = 25
const maxCheckMs = 1_000

/**
 * Detects whether a caller that has closed its sending side still reads. If it is gone, its system resets the connection
 * when something is sent, and the response emits `close`. Before the answer, the probe is an interim 100, because
 * HTTP/1.1 clients discard it. A stream that has begun sends comments itself (`sse-connection.ts`).
 */
export function probeCaller(raw: ServerResponse, clock: Clock): void {
  const { socket, httpVersionMinor } = raw.req
  const hasEnded = (): boolean => raw.destroyed || raw.writableEnded

  function probe(nextMs: number): void {
    if (hasEnded() || raw.headersSent || httpVersionMinor === 0) return
    // A pipelined request has no socket until the responses before it are sent.
    if (raw.socket !== null) raw.writeContinue()
    clock.after(nextMs, () => probe(nextMs * 2))
  }

  /** Node does not read a connection after its end, so it misses the reset. An empty write sends nothing but reports it. */
  function check(nextMs: number): void {
    if (hasEnded()) return
    socket.write('')
    clock.after(nextMs, () => check(Math.min(nextMs * 2, maxCheckMs)))
  }

  probe(firstProbeMs)
  setImmediate(check, firstCheckMs)
}
