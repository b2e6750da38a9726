import type { Charge } from '../../../../domain/credits/charge.ts'
import type { LedgerStore, Settled } from '../../../../domain/credits/ledger-store.ts'
import type { Database } from '../database.ts'
import { writeCharges } from './charges.ts'
import { createShardedWriter } from './sharded-writer.ts'
import type { LedgerEntryParts } from './ledger-entries.ts'
import { balanceOf, type AccountRow } from './rows.ts'
import { sliceStore } from './slices.ts'

/** Charges are written by a few shards in parallel. Those of one organization stay in order. */
const shards = 4

/** The ledger in SQL. */
export function ledgerStore(database: Database, parts: LedgerEntryParts): LedgerStore {
  const write = createShardedWriter<Charge, Settled>((charges) => writeCharges(database, parts.ids, charges))
  return {
    ...sliceStore(database, parts),
    settle: (charge) => write(shardOf(charge.organizationId), charge),
    async balance(organizationId) {
      const sql = 'select granted, available, held, spent from credit_account where organization_id = $1'
      const [row] = await database.read<AccountRow>(sql, [organizationId])
      return row && balanceOf(row)
    },
  }
}

/** Any stable hash is sufficient. */
function shardOf(organizationId: string): number {
  let sum = 0
  for (let at = 0; at < organizationId.length; at++) sum = (sum * 31 + organizationId.charCodeAt(at)) % 65_536
  return sum % shards
}
