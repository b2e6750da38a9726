import type { LedgerBalances, LedgerCheckpoint } from '../../../../domain/credits/ledger-verification.ts'
import type { KeyringEncryption } from '../../../../domain/server-secret/keyring-encryption.ts'
import type { Database } from '../database.ts'

export type LedgerBalanceStore = {
  /** The newest balance of each organization. */
  read(): Promise<LedgerBalances>
  save(month: string, balances: readonly LedgerCheckpoint[]): Promise<void>
}

type BalanceRow = { organization_id: string; month: string; sealed: Uint8Array }

const rowsPerStep = 100

/** The encryption context of a balance, so that it cannot be moved to another organization or month. */
const contextOf = (organizationId: string, month: string): string => `${organizationId} ${month}`

export function ledgerBalances(database: Database, encryption: KeyringEncryption): LedgerBalanceStore {
  return {
    async read() {
      const rows = await database.read<BalanceRow>(
        `select organization_id, month, sealed from ledger_balance b
         where month = (select max(n.month) from ledger_balance n where n.organization_id = b.organization_id)`,
      )
      const balances = new Map<string, LedgerCheckpoint>()
      const unreadable: string[] = []
      for (const { organization_id: organizationId, month, sealed } of rows) {
        try {
          // The cast holds because only the service can encrypt it.
          const text = encryption.decrypt(sealed, contextOf(organizationId, month))
          balances.set(organizationId, JSON.parse(text) as LedgerCheckpoint)
        } catch {
          unreadable.push(organizationId)
        }
      }
      return { balances, unreadable }
    },

    async save(month, balances) {
      const sql = `insert into ledger_balance (organization_id, month, sealed) values ($1, $2, $3)
        on conflict (organization_id, month) do nothing`
      const statements = balances.map((balance) => {
        const { organizationId } = balance
        const sealed = encryption.encrypt(JSON.stringify(balance), contextOf(organizationId, month))
        return { sql, params: [organizationId, month, sealed] }
      })
      for (let at = 0; at < statements.length; at += rowsPerStep)
        await database.write(statements.slice(at, at + rowsPerStep))
    },
  }
}
