import type { Database } from '../adapters/stores/sql/database.ts'
import { ledgerCheckpoints } from '../adapters/stores/sql/credits/ledger-checkpoints.ts'
import type { LedgerBalanceStore } from '../adapters/stores/sql/credits/ledger-balances.ts'
import type { VerificationThreads } from '../adapters/stores/sql/verification/threads.ts'
import type { Clock } from '../base/clock.ts'
import { createLedgerVerifier, type LedgerVerifier } from '../domain/credits/ledger-verifier.ts'
import type { Keyring } from '../domain/identity/keyring.ts'

type VerifierParts = {
  readonly database: Database
  readonly clock: Clock
  readonly keyring: Keyring
  readonly verification: VerificationThreads
  readonly balances: LedgerBalanceStore
}

/** Verifies the ledger in a thread. A full verification stores the checkpoints that a later one can continue from. */
export function openLedgerVerifier(parts: VerifierParts): LedgerVerifier {
  const { database, clock, keyring, balances, verification: threads } = parts
  const store = ledgerCheckpoints(database, keyring)
  return createLedgerVerifier({
    clock,
    async verify({ isSinceCheckpoint, onProgress }) {
      const known = isSinceCheckpoint ? await store.read() : new Map()
      const input = { nowMs: clock.nowMs(), checkpoints: known, ...(await balances.read()) }
      const { verification, checkpoints } = await threads.run('ledger', input, { onProgress })
      if (!isSinceCheckpoint) await store.save(checkpoints, input.nowMs)
      return verification
    },
  })
}
