import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import { createLinkedList } from '../../base/linked-list.ts'

/** A request in flight. Its signal aborts when the caller disconnects or the shutdown times out. */
export type InFlightRequest = Disposable & { readonly signal: AbortSignal }

export type InFlight = {
  begin(reply: FastifyReply): InFlightRequest
  count(): number
  /** Call when a caller has closed its sending side: it may still read the answer, or it is gone. */
  halfClosed(socket: Socket): void
  /** Resolves once no request is in flight and each has released its resources. */
  ended(): Promise<void>
  /** Aborts all requests in flight. Each answers its caller with the reason. */
  abortAll(reason: Fault): void
}

export function createInFlight(clock: Clock): InFlight {
  const requests = createLinkedList<{ readonly controller: AbortController; readonly raw: ServerResponse }>()
  let allEnded: PromiseWithResolvers<void> | undefined
  return {
    begin({ raw }) {
      const controller = new AbortController()
      const onClose = (): void => {
        if (!raw.writableFinished) controller.abort(new Error('the caller disconnected'))
      }
      raw.once('close', onClose)
      const entry = requests.add({ controller, raw })
      if (raw.req.socket.readableEnded) probeCaller(raw, clock)
      const end = (): void => {
        raw.off('close', onClose)
        entry.remove()
        if (requests.size === 0) allEnded?.resolve()
      }
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    count: () => requests.size,
    halfClosed(socket) {
      for (const { raw } of requests.values()) if (raw.req.socket === socket) probeCaller(raw, clock)
    },
    ended() {
      allEnded ??= Promise.withResolvers()
      if (requests.size === 0) allEnded.resolve()
      return allEnded.promise
    },
    abortAll(reason) {
      for (const { controller } of requests.values()) controller.abort(reason)
    },
  }
}

/** Doubled each time, because some clients accept only a few interim responses. */
const firstProbeMs = 15_000
const firstCheckMs = 25
const maxCheckMs = 1_000

/**
 * Detects whether a caller that has closed its sending side still reads. If it is gone, its system resets the connection
 * when something is sent, and the response emits `close`. Before the answer, the probe is an interim 100, because
 * HTTP/1.1 clients discard it. A stream that has begun sends comments itself (`sse-connection.ts`).
 */
function probeCaller(raw: ServerResponse, clock: Clock): void {
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
