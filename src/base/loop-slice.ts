import type { Clock } from './clock.ts'
import { afterIo } from './after-io.ts'

/** Measures how much of one iteration of the event loop some work has taken. */
export type LoopSlice = {
  /** True if the work should wait for the next iteration, so that other requests are served first. */
  isUsedUp(): boolean
}

/** The slice starts at the first call in an iteration. */
export function createLoopSlice(clock: Clock, sliceMs: number): LoopSlice {
  let startMs: number | undefined
  const reset = (): void => void (startMs = undefined)
  return {
    isUsedUp() {
      if (startMs !== undefined) return clock.monotonicMs() - startMs >= sliceMs
      startMs = clock.monotonicMs()
      void afterIo().then(reset)
      return false
    },
  }
}
