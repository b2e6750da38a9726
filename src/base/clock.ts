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

export const toUnixSeconds = (ms: number): number => Math.floor(ms / 1000)
