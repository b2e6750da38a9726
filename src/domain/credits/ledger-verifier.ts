import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/fault.ts'
import type { LedgerProgress, LedgerVerification } from './ledger-verification.ts'

/** A verification of the ledger that runs in the background, or the last one. */
export type LedgerVerificationRun = LedgerProgress & {
  readonly state: 'running' | 'completed' | 'failed'
  readonly startedAtMs: number
  /** Whether it reads only what was written after the last full verification. */
  readonly isSinceCheckpoint: boolean
  /** Null unless it is completed. */
  readonly result: LedgerVerification | null
  /** Why it failed; null otherwise. */
  readonly error: string | null
}

export type LedgerVerifierParts = {
  readonly verify: (options: {
    readonly isSinceCheckpoint: boolean
    readonly onProgress: (progress: LedgerProgress) => void
  }) => Promise<LedgerVerification>
  readonly clock: Clock
}

/** Verifies the ledger in the background, one verification at a time. */
export type LedgerVerifier = {
  /** Starts a verification, unless one is running. */
  start(isSinceCheckpoint: boolean): LedgerVerificationRun
  /** Undefined if none was started since the process started. */
  latest(): LedgerVerificationRun | undefined
}

export function createLedgerVerifier({ verify, clock }: LedgerVerifierParts): LedgerVerifier {
  let latest: LedgerVerificationRun | undefined

  async function run(started: LedgerVerificationRun): Promise<void> {
    let progress: LedgerProgress = started
    try {
      const { isSinceCheckpoint } = started
      const onProgress = (reported: LedgerProgress): void => {
        progress = reported
        latest = { ...started, ...reported }
      }
      const result = await verify({ isSinceCheckpoint, onProgress })
      latest = { ...started, ...progress, total: progress.checked, state: 'completed', result }
    } catch (error) {
      latest = { ...started, ...progress, state: 'failed', error: messageOf(error) }
    }
  }

  return {
    start(isSinceCheckpoint) {
      if (latest?.state === 'running') return latest
      const started = { startedAtMs: clock.nowMs(), isSinceCheckpoint, checked: 0, total: 0 }
      latest = { ...started, state: 'running', result: null, error: null }
      void run(latest)
      return latest
    },
    latest: () => latest,
  }
}
