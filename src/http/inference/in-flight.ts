import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import { probeCaller } from './probe-caller.ts'

/** A request in flight. Its signal aborts when the caller disconnects or the shutdown times out. */
export type InFlightRequest = Disposable & { readonly signal: AbortSignal }

export type InFlight = {
  begin(reply: FastifyReply): InFlightRequest
  /** Call when a caller has closed its sending side: it may still read the answer, or it is gone. */
  halfClosed(socket: Socket): void
  /** Resolves once no request is in flight and each has released its resources. */
  ended(): Promise<void>
  /** Aborts all requests in flight. Each answers its caller with the reason. */
  abortAll(reason: Fault): void
}

export function createInFlight(clock: Clock): InFlight {
  const requests = new Map<AbortController, ServerResponse>()
  let allEnded: PromiseWithResolvers<void> | undefined
  return {
    begin({ raw }) {
      const controller = new AbortController()
      const onClose = (): void => {
        if (!raw.writableFinished) controller.abort(new Error('the caller disconnected'))
      }
      raw.once('close', onClose)
      requests.set(controller, raw)
      if (raw.req.socket.readableEnded) probeCaller(raw, clock)
      const end = (): void => {
        raw.off('close', onClose)
        requests.delete(controller)
        if (requests.size === 0) allEnded?.resolve()
      }
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    halfClosed(socket) {
      for (const raw of requests.values()) if (raw.req.socket === socket) probeCaller(raw, clock)
    },
    ended() {
      allEnded ??= Promise.withResolvers()
      if (requests.size === 0) allEnded.resolve()
      return allEnded.promise
    },
    abortAll(reason) {
      for (const controller of requests.keys()) controller.abort(reason)
    },
  }
}
