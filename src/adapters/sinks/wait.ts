import type { Clock } from '../../base/clock.ts'

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function waitFor(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
