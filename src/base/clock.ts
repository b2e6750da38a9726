/** Time as a part: tests hand in their own, so that a minute passes when they say so. */
export type Clock = {
  /** Wall clock, Unix milliseconds. */
  nowMs(): number
  /** Never goes back; for durations and deadlines only. */
  monotonicMs(): number
  /** Calls back once after `delayMs`; the answer cancels it. */
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

/** The last second of the year 9999: later dates have no ISO form, and nobody means them. */
export const lastSecond = 253_402_300_799

/** Does a piece of housekeeping now and then, until disposed of. */
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
