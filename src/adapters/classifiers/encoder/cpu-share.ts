import type { Clock } from '../../../base/clock.ts'

/** The share of one processor core that the encoder may use. */
export type CpuShare = {
  /** Whether another text may be read. Urgent texts may use all of the share, others leave a half. */
  hasLeft(isUrgent: boolean): boolean
  /** Called with the time that a text took. */
  use(ms: number): void
}

/** What is not used is saved up for this long, so that a short burst is read as a whole. */
const savedSeconds = 8

export function createCpuShare(clock: Pick<Clock, 'monotonicMs'>, percent: number): CpuShare {
  const mostMs = savedSeconds * 10 * percent
  let leftMs = mostMs
  let atMs = clock.monotonicMs()

  function refill(): void {
    const nowMs = clock.monotonicMs()
    leftMs = Math.min(mostMs, leftMs + ((nowMs - atMs) * percent) / 100)
    atMs = nowMs
  }

  return {
    hasLeft(isUrgent) {
      refill()
      return leftMs > (isUrgent ? 0 : mostMs / 2)
    },
    use(ms) {
      refill()
      leftMs -= ms
    },
  }
}
