import { Fault } from '../../../../base/fault.ts'
import type { GrantStore } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Transaction, Unguarded } from '../database.ts'
import { ledgerEntry, lockAccount, type LedgerEntryParts, type NewLedgerEntry } from './ledger-entries.ts'

/** Grants and corrections inside the transaction of an administrative change. */
export function grantStore(tx: Transaction, parts: LedgerEntryParts & Pick<Database, 'engine'>): GrantStore {
  return {
    async grant({ organizationId, kind, ref, micro, note }) {
      await run(lockAccount(parts.engine, organizationId))
      const sql = 'select granted from credit_account where organization_id = $1'
      const [account] = await tx.query<{ granted: number }>(sql, [organizationId])
      if (!Number.isSafeInteger((account?.granted ?? 0) + micro)) throw tooMuch()
      const way = { from: 'outside', to: 'available', sliceId: null } as const
      return insertEntry({ organizationId, kind, micro, ref, note, ...way })
    },

    async correct({ organizationId, ref, micro, note }) {
      await run(lockAccount(parts.engine, organizationId))
      const way = { from: 'available', to: 'outside', sliceId: null } as const
      const isNew = await insertEntry({ organizationId, kind: 'correction', micro, ref, note, ...way })
      const sql = 'select available from credit_account where organization_id = $1'
      const [account] = await tx.query<{ available: number }>(sql, [organizationId])
      return { isNew, availableMicro: account?.available ?? 0 }
    },
  }

  /** False: an entry of this kind and reference already exists. */
  async function insertEntry(entry: NewLedgerEntry): Promise<boolean> {
    const [insert, update] = ledgerEntry(parts, entry)
    const isNew = (await tx.run(insert.sql, insert.params)) > 0
    if (isNew) await tx.run(update.sql, update.params)
    return isNew
  }

  async function run(statements: readonly Unguarded[]): Promise<void> {
    for (const { sql, params } of statements) await tx.query(sql, params)
  }
}

/** Larger numbers are not exact. */
const tooMuch = (): Fault =>
  new Fault('validation', 'invalid_parameter', 'An organization can be granted at most 9007199254 credits in total.')
