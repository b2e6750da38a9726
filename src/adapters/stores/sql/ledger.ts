import type { Charge } from '../../../domain/credits/charge.ts'
import type { LedgerStore, Settled } from '../../../domain/credits/ledger-store.ts'
import type { Database } from './database.ts'
import { writeCharges } from './ledger-charges.ts'
import { createLanes } from './ledger-lanes.ts'
import type { MoveParts } from './ledger-moves.ts'
import { balanceOf, type AccountRow } from './ledger-rows.ts'
import { sliceStore } from './ledger-slices.ts'

/** The ledger in SQL. An organization's charges are a lane: they never wait for another's. */
export function ledgerStore(database: Database, parts: MoveParts): LedgerStore {
  const inLane = createLanes<Charge, Settled>((charges) => writeCharges(database, parts.ids, charges))
  return {
    ...sliceStore(database, parts),
    settle: (charge) => inLane(charge.organizationId, charge),
    async balance(organizationId) {
      const sql = 'select granted, available, held, spent from credit_account where organization_id = $1'
      const [row] = await database.read<AccountRow>(sql, [organizationId])
      return row && balanceOf(row)
    },
  }
}
