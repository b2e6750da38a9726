import type { VerificationThreads } from '../adapters/stores/sql/verification/threads.ts'
import type { Clock } from '../base/clock.ts'
import { createLedgerVerifier, type LedgerVerifier } from '../domain/credits/ledger-verifier.ts'

type VerifierParts = { readonly clock: Clock; readonly verification: VerificationThreads }

/** Verifies the ledger in a thread. */
export const openLedgerVerifier = ({ clock, verification }: VerifierParts): LedgerVerifier =>
  createLedgerVerifier({
    clock,
    async verify(onProgress) {
      const input = { nowMs: clock.nowMs(), checkpoints: new Map() }
      return (await verification.run('ledger', input, { onProgress })).verification
    },
  })
