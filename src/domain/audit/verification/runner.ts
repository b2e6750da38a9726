import type { Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import type { LogReport, VerifyRange } from '../verify-log.ts'
import { resultOf, type Verification, type VerificationQueue } from './verification.ts'

export type VerificationRunnerParts = {
  readonly queue: VerificationQueue
  /** Verifies a log. It awaits `onChecked` often, with the sequence of the last event that it read. */
  readonly verify: (
    organizationId: string,
    options: VerifyRange & { readonly onChecked: (sequence: number) => Promise<void> },
  ) => Promise<LogReport>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Verifies logs in the background, one at a time. A verification that is interrupted starts again. */
export type VerificationRunner = AsyncDisposable & {
  /** Works until the queue is empty. A job calls it every second. */
  run(): Promise<void>
}

/** Progress is saved this often; must be shorter than the lease. */
const saveEveryMs = 1_000

export function createVerificationRunner(parts: VerificationRunnerParts): VerificationRunner {
  const { queue, verify, clock, onError } = parts
  let isStopping = false
  /** Ends the rest that the verification takes. */
  let wake = (): void => {}
  let runs = Promise.resolve()
  return {
    run() {
      const round = runs.then(runAll)
      runs = round.catch(() => undefined) // the caller gets the error; the next round starts all the same
      return round
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      wake()
      await runs
    },
  }

  async function runAll(): Promise<void> {
    for (let claimed = await claim(); claimed; claimed = await claim()) {
      try {
        await workOff(claimed)
      } finally {
        await queue.release(claimed.id)
      }
    }
  }

  async function claim(): Promise<Verification | undefined> {
    return isStopping ? undefined : queue.claim()
  }

  /** If the database cannot be reached, the verification starts again later. Any other error would repeat. */
  async function workOff(claimed: Verification): Promise<void> {
    try {
      const report = await verify(claimed.organizationId, {
        from: claimed.from ?? undefined,
        to: claimed.to ?? undefined,
        onChecked: progressOf(claimed),
      })
      const { checked } = report
      const total = report.finding ? claimed.total : checked
      await save({ ...claimed, state: 'completed', checked, total, result: resultOf(report) })
    } catch (error) {
      if (error instanceof Interrupted) return
      if (isFault(error) && error.kind === 'unavailable') throw error
      onError(error)
      await save({ ...claimed, state: 'failed' })
    }
  }

  /** Rests as long as the work before it took, so that a verification takes at most half of a core from the requests. */
  function progressOf(claimed: Verification): (sequence: number) => Promise<void> {
    let first: number | undefined
    let savedMs = clock.monotonicMs()
    let resumedMs = savedMs
    return async (sequence) => {
      first ??= sequence
      const nowMs = clock.monotonicMs()
      if (nowMs - savedMs >= saveEveryMs) {
        const checked = Math.min(sequence - first + 1, claimed.total)
        if (!(await save({ ...claimed, checked }))) throw new Interrupted()
        savedMs = clock.monotonicMs()
      }
      await rest(nowMs - resumedMs)
      if (isStopping) throw new Interrupted()
      resumedMs = clock.monotonicMs()
    }
  }

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
      if (isStopping) wake()
    })
  }

  function save(verification: Verification): Promise<boolean> {
    return queue.save({ ...verification, updatedAtMs: clock.nowMs() })
  }
}

/** The process stops, or another node has taken over. */
class Interrupted extends Error {}
