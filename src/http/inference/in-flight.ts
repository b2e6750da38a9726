import type { FastifyReply } from 'fastify'
import type { Fault } from '../../base/fault.ts'

/** A request under way: its signal says stop when the caller hangs up, or when the server must close. */
export type Underway = Disposable & { readonly signal: AbortSignal }

export type InFlight = {
  begin(reply: FastifyReply): Underway
  /** Resolves once none is under way and each has given back what it had borrowed. */
  ended(): Promise<void>
  /** Ends all that is under way; each answer then tells its caller why. */
  abortAll(reason: Fault): void
}

export function createInFlight(): InFlight {
  const controllers = new Set<AbortController>()
  let noneLeft: PromiseWithResolvers<void> | undefined
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
        if (controllers.size === 0) noneLeft?.resolve()
      }
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    ended() {
      noneLeft ??= Promise.withResolvers()
      if (controllers.size === 0) noneLeft.resolve()
      return noneLeft.promise
    },
    abortAll(reason) {
      for (const controller of controllers) controller.abort(reason)
    },
  }
}
