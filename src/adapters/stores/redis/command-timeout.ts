import type { Clock } from '../../../base/clock.ts'

/** What a command may cost the server: whoever comes after many others waits for them first. */
const eachAheadMs = 1

/**
 * Waits for answers of one pipelined connection, each for as long as the server may take, and for those ahead of it. A
 * burst of our own is no slow server, and neither is an event loop that was busy: what has arrived meanwhile is read first.
 */
export function createCommandTimeout(clock: Clock, timeoutMs: number) {
  const waiting = new Set<symbol>()
  return async <T>(answer: Promise<T>): Promise<T> => {
    const place = Symbol('a command')
    const { promise: tooLate, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => void setImmediate(() => reject(new Error('no answer in time')))
    const cancel = clock.after(timeoutMs + waiting.size * eachAheadMs, giveUp)
    waiting.add(place)
    try {
      return await Promise.race([answer, tooLate])
    } finally {
      waiting.delete(place)
      cancel()
    }
  }
}
