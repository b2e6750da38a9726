import type { Clock } from '../../base/clock.ts'

/** Resolves after `delayMs`; throws the signal's reason as soon as it aborts. */
export async function waitFor(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = (): void => resolve()
  const cancel = clock.after(delayMs, wake)
  signal.addEventListener('abort', wake, { once: true })
  await promise
  cancel()
  signal.removeEventListener('abort', wake)
  signal.throwIfAborted()
}
