import type { Ids } from '../../../../base/ids.ts'
import type { Clock } from '../../../../base/clock.ts'
import type { Database, Unguarded } from '../database.ts'
import { accountLock } from './rows.ts'

export type LedgerEntryParts = { readonly ids: Ids; readonly clock: Clock }

export type NewLedgerEntry = {
  readonly organizationId: string
  readonly kind: 'grant' | 'payment' | 'correction' | 'slice'
  readonly from: 'outside' | 'available' | 'held'
  readonly to: 'outside' | 'available' | 'held'
  readonly micro: number
  readonly sliceId: string | null
  readonly ref: string
  readonly note: string
}

/** Locks the organization's account for the rest of the step, and creates it if it is missing. */
export const lockAccount = (engine: Database['engine'], organizationId: string): Unguarded[] => [
  ...accountLock(engine, organizationId),
  {
    sql: `insert into credit_account (organization_id, granted, available, held, spent) values ($1, 0, 0, 0, 0)
      on conflict (organization_id) do nothing`,
    params: [organizationId],
  },
]

/** The statement that inserts an entry, unless one of this kind and reference exists, and the one that then updates the account. */
export function ledgerEntry(
  { ids, clock }: LedgerEntryParts,
  { organizationId, kind, from, to, micro, sliceId, ref, note }: NewLedgerEntry,
): readonly [insert: Unguarded, update: Unguarded] {
  const change = (account: NewLedgerEntry['from']): number =>
    (to === account ? micro : 0) - (from === account ? micro : 0)
  return [
    {
      sql: `insert into credit_entry (id, organization_id, at, kind, from_account, to_account, micro, slice_id, ref, note)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
      params: [ids('cre'), organizationId, clock.nowMs(), kind, from, to, micro, sliceId, ref, note],
    },
    {
      sql: `update credit_account set granted = granted + $2, available = available + $3, held = held + $4
        where organization_id = $1`,
      params: [organizationId, -change('outside'), change('available'), change('held')],
    },
  ]
}
