import type { Clock } from '../../../base/clock.ts'
import { cancelled, tooManyCalls } from '../failures.ts'

/** Limits the concurrent calls to one upstream. */
export type CallSlots = {
  /** Takes a free slot. False if there is none. */
  take(): boolean
  /** Waits for a slot, in the order of arrival. Rejects with `upstream_busy` after the timeout, or if the call is aborted. */
  wait(signal: AbortSignal): Promise<void>
  /** Passes the slot to the call that has waited longest. */
  release(): void
  inFlight(): number
}

export type CallSlotsParts = {
  readonly maxConcurrent: number
  readonly queueTimeoutMs: number
  readonly clock: Clock
  readonly onQueued?: OnQueued | undefined
}

/** Called when a call starts to wait. The returned function is called at the end of the wait: `hasSlot` if it got one. */
export type OnQueued = () => (hasSlot: boolean) => void

export function createCallSlots({ maxConcurrent, queueTimeoutMs, clock, onQueued }: CallSlotsParts): CallSlots {
  const waiting = new Set<() => void>()
  let inFlight = 0
  return {
    take() {
      if (inFlight >= maxConcurrent) return false
      inFlight += 1
      return true
    },
    wait(signal) {
      if (signal.aborted) return Promise.reject(cancelled(signal.reason))
      if (queueTimeoutMs === 0) return Promise.reject(tooManyCalls(maxConcurrent))
      const onEnd = onQueued?.()
      return new Promise((resolve, reject) => {
        const leave = (hasSlot: boolean): void => {
          waiting.delete(start)
          cancelTimeout()
          signal.removeEventListener('abort', abort)
          onEnd?.(hasSlot)
        }
        const start = (): void => {
          leave(true)
          resolve()
        }
        const abort = (): void => {
          leave(false)
          reject(cancelled(signal.reason))
        }
        const cancelTimeout = clock.after(queueTimeoutMs, () => {
          leave(false)
          reject(tooManyCalls(maxConcurrent))
        })
        waiting.add(start)
        signal.addEventListener('abort', abort)
      })
    },
    release() {
      const [next] = waiting
      if (next === undefined) inFlight -= 1
      else next()
    },
    inFlight: () => inFlight,
  }
}
