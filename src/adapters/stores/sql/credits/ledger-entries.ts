import type { Ids } from '../../../../base/ids.ts'
import type { Clock } from '../../../../base/clock.ts'
import type { Database, Transaction } from '../database.ts'
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

/** Locks the organization's account for this transaction, and creates it if it is missing. */
export async function lockAccount(tx: Transaction, engine: Database['engine'], organizationId: string): Promise<void> {
  for (const { sql, params } of accountLock(engine, organizationId)) await tx.query(sql, params)
  await tx.run(
    `insert into credit_account (organization_id, granted, available, held, spent) values ($1, 0, 0, 0, 0)
     on conflict (organization_id) do nothing`,
    [organizationId],
  )
}

/** Inserts an entry and updates the account. False: an entry of this kind and reference already exists. */
export async function insertLedgerEntry(
  tx: Transaction,
  { ids, clock }: LedgerEntryParts,
  what: NewLedgerEntry,
): Promise<boolean> {
  const { organizationId, kind, from, to, micro, sliceId, ref, note } = what
  const written = await tx.run(
    `insert into credit_entry (id, organization_id, at, kind, from_account, to_account, micro, slice_id, ref, note)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    [ids('cre'), organizationId, clock.nowMs(), kind, from, to, micro, sliceId, ref, note],
  )
  if (written === 0) return false
  const change = (account: NewLedgerEntry['from']): number =>
    (to === account ? micro : 0) - (from === account ? micro : 0)
  await tx.run(
    `update credit_account set granted = granted + $2, available = available + $3, held = held + $4
     where organization_id = $1`,
    [organizationId, -change('outside'), change('available'), change('held')],
  )
  return true
}
