import { systemClock } from '../../../base/clock.ts'
import { createSemaphore } from '../../../base/semaphore.ts'
import { DatabaseError, type DatabaseFigures } from './database.ts'

export type ReportSlots = {
  /** Runs `work` once fewer than `most` reports run. Rejects with `timeout` if that takes too long. */
  run<T>(work: () => Promise<T>): Promise<T>
  figures(): DatabaseFigures['reports']
}

export type ReportSlotsParts = { readonly most: number; readonly waitMs: number }

/** Limits how many reports an engine runs at once. The others wait in the order of their calls. */
export function createReportSlots({ most, waitMs }: ReportSlotsParts): ReportSlots {
  const semaphore = createSemaphore(most)
  let running = 0
  let waiting = 0
  let timedOut = 0

  async function acquire(): Promise<Disposable> {
    const timeout = new AbortController()
    const cancel = systemClock.after(waitMs, () =>
      timeout.abort(new DatabaseError('timeout', `other reports kept this one waiting for ${waitMs} ms`)),
    )
    try {
      return await semaphore.acquire(timeout.signal)
    } finally {
      cancel()
    }
  }

  async function runCounted<T>(work: () => Promise<T>): Promise<T> {
    waiting++
    using _slot = await acquire().finally(() => waiting--)
    running++
    return await work().finally(() => running--)
  }

  return {
    run: (work) =>
      runCounted(work).catch((error: unknown) => {
        if (error instanceof DatabaseError && error.reason === 'timeout') timedOut++
        throw error
      }),
    figures: () => ({ running, waiting, timedOut }),
  }
}
