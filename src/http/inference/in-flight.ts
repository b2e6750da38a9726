import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../base/clock.ts'
import type { Fault } from '../../base/fault.ts'
import { probeCaller } from './probe-caller.ts'

/** A request under way: its signal says stop when the caller hangs up, or when the server must close. */
export type InFlightRequest = Disposable & { readonly signal: AbortSignal }

export type InFlight = {
  begin(reply: FastifyReply): InFlightRequest
  /** The caller on this connection has closed its sending side: it waits for its answer, or is gone. */
  halfClosed(socket: Socket): void
  /** Resolves once none is under way and each has given back what it had borrowed. */
  ended(): Promise<void>
  /** Ends all that is under way; each answer then tells its caller why. */
  abortAll(reason: Fault): void
}

export function createInFlight(clock: Clock): InFlight {
  const underway = new Map<AbortController, ServerResponse>()
  let noneLeft: PromiseWithResolvers<void> | undefined
  return {
    begin({ raw }) {
      const controller = new AbortController()
      const onClose = (): void => {
        if (!raw.writableFinished) controller.abort(new Error('the caller hung up'))
      }
      raw.once('close', onClose)
      underway.set(controller, raw)
      if (raw.req.socket.readableEnded) probeCaller(raw, clock)
      const end = (): void => {
        raw.off('close', onClose)
        underway.delete(controller)
        if (underway.size === 0) noneLeft?.resolve()
      }
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    halfClosed(socket) {
      for (const raw of underway.values()) if (raw.req.socket === socket) probeCaller(raw, clock)
    },
    ended() {
      noneLeft ??= Promise.withResolvers()
      if (underway.size === 0) noneLeft.resolve()
      return noneLeft.promise
    },
    abortAll(reason) {
      for (const controller of underway.keys()) controller.abort(reason)
    },
  }
}
