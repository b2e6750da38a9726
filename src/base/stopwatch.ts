import type { Clock } from './clock.ts'

/** Adds up the time between `start` and `stop`. */
export class Stopwatch {
  readonly clock: Clock
  stoppedMs = 0
  sinceMs: number | undefined = undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  start(): void {
    this.sinceMs ??= this.clock.monotonicMs()
  }

  stop(): void {
    this.stoppedMs = this.totalMs()
    this.sinceMs = undefined
  }

  /** Includes the time since the last start. */
  totalMs(): number {
    return this.sinceMs === undefined ? this.stoppedMs : this.stoppedMs + this.clock.monotonicMs() - this.sinceMs
  }
}
