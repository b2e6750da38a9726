import { systemClock } from '../../../base/clock.ts'
import { createSemaphore } from '../../../base/semaphore.ts'
import { DatabaseError } from './database.ts'

export type ReportSlots = {
  /** Runs `work` once fewer than `most` reports run. Rejects with `timeout` if that takes too long. */
  run<T>(work: () => Promise<T>): Promise<T>
}

export type ReportSlotsParts = { readonly most: number; readonly waitMs: number }

/** Limits how many reports an engine runs at once. The others wait in the order of their calls. */
export function createReportSlots({ most, waitMs }: ReportSlotsParts): ReportSlots {
  const semaphore = createSemaphore(most)

  async function acquire(): Promise<Disposable> {
    const waiting = new AbortController()
    const cancel = systemClock.after(waitMs, () =>
      waiting.abort(new DatabaseError('timeout', `other reports kept this one waiting for ${waitMs} ms`)),
    )
    try {
      return await semaphore.acquire(waiting.signal)
    } finally {
      cancel()
    }
  }

  return {
    async run(work) {
      using _slot = await acquire()
      return await work()
    },
  }
}
