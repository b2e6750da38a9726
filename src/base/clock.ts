/** The source of time. It is a parameter, so that tests can move time by hand. */
export type Clock = {
  /** Wall clock, Unix milliseconds. */
  nowMs(): number
  /** Never steps back. For durations and deadlines only. */
  monotonicMs(): number
  /** Calls back once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

export const toUnixSeconds = (ms: number): number => Math.floor(ms / 1000)

/** The end of a range in full seconds that includes this moment. The API has ranges in seconds, and their ends are exclusive. */
export const endOfSecondMs = (ms: number): number => (toUnixSeconds(ms) + 1) * 1000

/** The last second of the year 9999; later dates have no four-digit ISO 8601 form. */
export const lastSecond = 253_402_300_799

/**
 * Calls `work` every `everyMs` until it is disposed of. The delay starts when the last call has ended, so calls never overlap.
 * Only `src/jobs` and two named exceptions may use it; `test/architecture.test.ts` checks that.
 */
export function repeat(clock: Clock, work: () => Promise<unknown>, everyMs: number): Disposable {
  let stopped = false
  let cancel = (): void => {}
  const again = (): void => {
    if (!stopped) cancel = clock.after(everyMs, () => void work().finally(again))
  }
  again()
  return {
    [Symbol.dispose]() {
      stopped = true
      cancel()
    },
  }
}
