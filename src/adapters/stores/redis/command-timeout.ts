import type { Clock } from '../../../base/clock.ts'

/** Extra time for each command ahead in the pipeline, because the server executes them first. */
const eachAheadMs = 1

/**
 * Limits the wait for replies on one pipelined connection. Each command may take the timeout, plus some time for the commands
 * ahead of it, so that a burst does not look like a slow server. Replies that arrived while the event loop was busy still count.
 */
export function createCommandTimeout(clock: Clock, timeoutMs: number) {
  const waiting = new Set<symbol>()
  return async <T>(reply: Promise<T>): Promise<T> => {
    const command = Symbol('command')
    const { promise: timedOut, reject } = Promise.withResolvers<never>()
    const onTimeout = (): void => void setImmediate(() => reject(new Error('no answer in time')))
    const cancel = clock.after(timeoutMs + waiting.size * eachAheadMs, onTimeout)
    waiting.add(command)
    try {
      return await Promise.race([reply, timedOut])
    } finally {
      waiting.delete(command)
      cancel()
    }
  }
}
