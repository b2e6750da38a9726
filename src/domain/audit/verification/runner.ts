import { repeat, type Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import type { LogReport, VerifyCursor, VerifyProgress, VerifyRange } from '../verify-log.ts'
import { resultOf, type Verification, type VerificationQueue } from './verification.ts'

export type VerificationRunnerParts = {
  readonly queue: VerificationQueue
  /** Verifies a log outside of this thread. It rejects once `signal` is aborted. */
  readonly verify: (
    organizationId: string,
    options: VerifyRange & {
      readonly resumeAt: VerifyCursor | undefined
      readonly signal: AbortSignal
      /** Called often. */
      readonly onProgress: (progress: VerifyProgress) => void
    },
  ) => Promise<LogReport>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Verifies logs in the background, one at a time. A verification that is interrupted continues where its progress was saved. */
export type VerificationRunner = AsyncDisposable & {
  /** Works until the queue is empty. A job calls it every second. */
  run(): Promise<void>
}

/** Progress is saved this often; must be shorter than the lease. */
const saveEveryMs = 1_000
/** Without progress, as while signatures are checked, the lease is renewed this often. */
const renewEveryMs = 10_000

export function createVerificationRunner(parts: VerificationRunnerParts): VerificationRunner {
  const { queue, verify, clock, onError } = parts
  const stopping = new AbortController()
  let runs = Promise.resolve()
  return {
    run() {
      const round = runs.then(runAll)
      runs = round.catch(() => undefined) // the caller gets the error; the next round starts nevertheless
      return round
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Interrupted())
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
    return stopping.signal.aborted ? undefined : queue.claim()
  }

  /** If the database cannot be reached, the verification continues later. Any other error would repeat. */
  async function workOff(claimed: Verification): Promise<void> {
    using saver = createSaver(claimed)
    try {
      const report = await verify(claimed.organizationId, {
        from: claimed.from ?? undefined,
        to: claimed.to ?? undefined,
        resumeAt: claimed.cursor ?? undefined,
        signal: AbortSignal.any([stopping.signal, saver.signal]),
        onProgress: saver.onProgress,
      })
      await saver.saved()
      const { checked } = report
      const total = report.finding ? claimed.total : checked
      await save({ ...claimed, state: 'completed', checked, total, result: resultOf(report), cursor: null })
    } catch (error) {
      await saver.saved()
      if (error instanceof Interrupted) return
      if (isFault(error) && error.kind === 'unavailable') throw error
      onError(error)
      await save({ ...claimed, state: 'failed', cursor: null })
    }
  }

  /** Saves the progress each second, and so renews the lease. Aborts its signal if another node has taken over, or if the progress cannot be saved. */
  function createSaver(claimed: Verification) {
    const lost = new AbortController()
    let latest = claimed
    let savedMs = clock.monotonicMs()
    let saving: Promise<void> | undefined
    const saveLatest = async (): Promise<void> => {
      try {
        if (!(await save(latest))) lost.abort(new Interrupted())
      } catch (error) {
        lost.abort(error)
      }
    }
    const saveAfter = (ms: number): void => {
      if (saving || clock.monotonicMs() - savedMs < ms) return
      savedMs = clock.monotonicMs()
      saving = saveLatest().finally(() => (saving = undefined))
    }
    const renewing = repeat(clock, async () => saveAfter(renewEveryMs), saveEveryMs)
    return {
      signal: lost.signal,
      onProgress({ first, last, cursor }: VerifyProgress): void {
        latest = { ...claimed, checked: Math.min(last - first + 1, claimed.total), cursor: cursor ?? null }
        saveAfter(saveEveryMs)
      },
      /** Resolves once no progress is being saved. */
      async saved(): Promise<void> {
        renewing[Symbol.dispose]()
        await saving
      },
      [Symbol.dispose]: () => renewing[Symbol.dispose](),
    }
  }

  function save(verification: Verification): Promise<boolean> {
    return queue.save({ ...verification, updatedAtMs: clock.nowMs() })
  }
}

/** The process stops, or another node has taken over. */
class Interrupted extends Error {}
