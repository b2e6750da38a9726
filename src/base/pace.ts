import type { Clock } from './clock.ts'
import { afterIo } from './after-io.ts'

/** Runs the steps of long work on the thread that serves requests, one at a time. */
export type Pace = {
  /** After each step nothing runs for as long as it took, so that all steps together take at most half of a core. */
  run<T>(step: () => Promise<T>): Promise<T>
}

/** The longest rest: a step may have waited for storage most of the time. */
const maxRestMs = 50

export function createPace(clock: Pick<Clock, 'monotonicMs' | 'after'>): Pace {
  let rested: Promise<void> = Promise.resolve()

  async function restAfter(startMs: number): Promise<void> {
    const tookMs = Math.min(clock.monotonicMs() - startMs, maxRestMs)
    await afterIo() // also if the step took no time that can be measured
    if (tookMs > 0) await new Promise<void>((resolve) => void clock.after(tookMs, resolve))
  }

  return {
    run(step) {
      let startMs = 0
      const result = rested.then(() => {
        startMs = clock.monotonicMs()
        return step()
      })
      rested = result.then(
        () => restAfter(startMs),
        () => restAfter(startMs),
      )
      return result
    },
  }
}
