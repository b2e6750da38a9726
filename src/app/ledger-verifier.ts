import type { Database } from '../adapters/stores/sql/database.ts'
import { ledgerCheckpoints } from '../adapters/stores/sql/credits/ledger-checkpoints.ts'
import type { LedgerBalanceStore } from '../adapters/stores/sql/credits/ledger-balances.ts'
import type { VerificationThreads } from '../adapters/stores/sql/verification/threads.ts'
import type { Clock } from '../base/clock.ts'
import type { LedgerBalances } from '../domain/credits/ledger-verification.ts'
import { createLedgerVerifier, type LedgerVerifier } from '../domain/credits/ledger-verifier.ts'
import type { Keyring } from '../domain/server-secret/keyring.ts'

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
      for (;;) {
        const input = { nowMs: clock.nowMs(), checkpoints: known, ...(await balances.read()) }
        const { verification, checkpoints } = await threads.run('ledger', input, { onProgress })
        // A month that is folded meanwhile takes entries out of the ledger.
        if (verification.broken !== null && hasNewer((await balances.read()).balances, input.balances)) continue
        if (!isSinceCheckpoint) await store.save(checkpoints, input.nowMs)
        return verification
      }
    },
  })
}

const hasNewer = (now: LedgerBalances['balances'], before: LedgerBalances['balances']): boolean =>
  now.entries().some(([organizationId, { timeMs }]) => timeMs > (before.get(organizationId)?.timeMs ?? 0))
