import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/fault.ts'
import type { LedgerProgress, LedgerVerification } from './ledger-verification.ts'

/** A verification of the ledger that runs in the background, or the last one. */
export type LedgerVerificationRun = LedgerProgress & {
  readonly state: 'running' | 'completed' | 'failed'
  readonly startedAtMs: number
  /** Null unless it is completed. */
  readonly result: LedgerVerification | null
  /** Why it failed; null otherwise. */
  readonly error: string | null
}

export type LedgerVerifierParts = {
  readonly verify: (onProgress: (progress: LedgerProgress) => void) => Promise<LedgerVerification>
  readonly clock: Clock
}

/** Verifies the ledger in the background, one verification at a time. */
export type LedgerVerifier = {
  /** Starts a verification, unless one is running. */
  start(): LedgerVerificationRun
  /** Undefined if none was started since the process started. */
  latest(): LedgerVerificationRun | undefined
}

export function createLedgerVerifier({ verify, clock }: LedgerVerifierParts): LedgerVerifier {
  let latest: LedgerVerificationRun | undefined

  async function run(started: LedgerVerificationRun): Promise<void> {
    let progress: LedgerProgress = started
    try {
      const result = await verify((reported) => {
        progress = reported
        latest = { ...started, ...reported }
      })
      latest = { ...started, ...progress, total: progress.checked, state: 'completed', result }
    } catch (error) {
      latest = { ...started, ...progress, state: 'failed', error: messageOf(error) }
    }
  }

  return {
    start() {
      if (latest?.state === 'running') return latest
      latest = { state: 'running', startedAtMs: clock.nowMs(), checked: 0, total: 0, result: null, error: null }
      void run(latest)
      return latest
    },
    latest: () => latest,
  }
}
