import type { Clock } from './clock.ts'
import { afterIo } from './after-io.ts'

/** How much of one turn of the event loop some work has taken. */
export type LoopSlice = {
  /** Whether the work should wait for the next turn, so that others are served before it goes on. */
  isUsedUp(): boolean
}

/** Counts from the first question of a turn. */
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
