import type { Clock } from '../../../base/clock.ts'

/** An upstream that was called and did not answer. */
export type FailedAttempt = { readonly upstream: string; readonly code: string; readonly endedUs: number }

/**
 * When the steps of a request ended, in microseconds since it was received; undefined for steps that it did not reach. A class
 * with plain fields, because every request has one.
 */
export class RequestTiming {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly receivedMs: number
  /** Its body was read and decoded. */
  acceptedUs: number
  /** The limits and the credit hold admitted it. */
  admittedUs: number | undefined = undefined
  /** Its texts were checked. */
  checkedUs: number | undefined = undefined
  /** The upstream was called; the last one, if several were. */
  calledUs: number | undefined = undefined
  /** The upstream that was called last. */
  upstream: string | undefined = undefined
  /** The first chunk of the answer arrived. */
  firstByteUs: number | undefined = undefined
  /** The upstream ended the answer. */
  answeredUs: number | undefined = undefined
  /** How long the part of the answer was held back that waited longest for its checks. */
  heldBackUs: number | undefined = undefined
  failedAttempts: FailedAttempt[] | undefined = undefined

  constructor(clock: Pick<Clock, 'monotonicMs'>, receivedMs: number = clock.monotonicMs()) {
    this.clock = clock
    this.receivedMs = receivedMs
    this.acceptedUs = this.elapsedUs()
  }

  elapsedUs(): number {
    return Math.round((this.clock.monotonicMs() - this.receivedMs) * 1000)
  }

  admitted(): void {
    this.admittedUs = this.elapsedUs()
  }

  checked(): void {
    this.checkedUs = this.elapsedUs()
  }

  called(upstream: string): void {
    this.calledUs = this.elapsedUs()
    this.upstream = upstream
  }

  firstByte(): void {
    this.firstByteUs = this.elapsedUs()
  }

  answered(): void {
    this.answeredUs = this.elapsedUs()
  }

  /** A part of the answer leaves the hold-back buffer, sent or dropped. `sinceMs` is by the monotonic clock. */
  heldSince(sinceMs: number): void {
    const us = Math.round((this.clock.monotonicMs() - sinceMs) * 1000)
    if (this.heldBackUs === undefined || us > this.heldBackUs) this.heldBackUs = us
  }

  attemptFailed(upstream: string, code: string): void {
    this.failedAttempts ??= []
    this.failedAttempts.push({ upstream, code, endedUs: this.elapsedUs() })
  }
}
