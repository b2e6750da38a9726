import type { FastifyReply } from 'fastify'
import type { Fault } from '../../base/fault.ts'

/** A request under way: its signal says stop when the caller hangs up, or when the server must close. */
export type Underway = Disposable & { readonly signal: AbortSignal }

export type InFlight = {
  begin(reply: FastifyReply): Underway
  /** Ends all that is under way; each answer then tells its caller why. */
  abortAll(reason: Fault): void
}

export function createInFlight(): InFlight {
  const controllers = new Set<AbortController>()
  return {
    begin({ raw }) {
      const controller = new AbortController()
      const onClose = (): void => {
        if (!raw.writableFinished) controller.abort(new Error('the caller hung up'))
      }
      raw.once('close', onClose)
      controllers.add(controller)
      const end = (): void => {
        raw.off('close', onClose)
        controllers.delete(controller)
      }
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    abortAll(reason) {
      for (const controller of controllers) controller.abort(reason)
    },
  }
}
