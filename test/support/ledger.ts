import { verifyLedger } from '../../src/adapters/stores/sql/credits/verification/verify-ledger.ts'
import type { Database, Transaction } from '../../src/adapters/stores/sql/database.ts'
import type { LedgerVerification } from '../../src/domain/credits/ledger-verification.ts'

type Options = { readonly engine: Database['engine']; readonly nowMs?: number }

/** Verifies the ledger through an open transaction. */
export async function verifyThrough(
  query: Transaction['query'],
  { engine, nowMs = 0 }: Options,
): Promise<LedgerVerification> {
  const reads = { query, snapshot: <T>(work: (same: Transaction['query']) => Promise<T>) => work(query) }
  return (await verifyLedger(reads, { engine, nowMs })).verification
}
