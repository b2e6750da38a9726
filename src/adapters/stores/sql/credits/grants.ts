import type { GrantStore } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Transaction } from '../database.ts'
import { lockAccount, move, type MoveParts } from './moves.ts'

/** Grants inside the transaction of an administrative change. */
export function grantStore(tx: Transaction, parts: MoveParts & Pick<Database, 'engine'>): GrantStore {
  return {
    async grant({ organizationId, kind, ref, micro, note }) {
      await lockAccount(tx, parts.engine, organizationId)
      const way = { from: 'outside', to: 'available', sliceId: null } as const
      return move(tx, parts, { organizationId, kind, micro, ref, note, ...way })
    },
  }
}
