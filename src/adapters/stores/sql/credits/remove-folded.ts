import { lowestIdAt } from '../../../../base/ids.ts'
import type { LedgerCheckpoint } from '../../../../domain/credits/ledger-verification.ts'
import type { Database, Statement } from '../database.ts'

/** Charges of one step. Requests wait for one step, and then have the time of a pause. */
const batchSize = 200

/** Whether an organization has usage from before `endMs` that no balance of that month or a later one has. */
export async function hasUnfolded(
  database: Database,
  { month, endMs }: { readonly month: string; readonly endMs: number },
): Promise<boolean> {
  const rows = await database.read(
    `select a.organization_id from credit_account a
     where not exists (select 1 from ledger_balance b where b.organization_id = a.organization_id and b.month >= $1)
       and exists (select 1 from credit_entry e
         where e.organization_id = a.organization_id and e.id < $2 and e.kind in ('usage', 'slice')) limit 1`,
    [month, lowestIdAt('cre', endMs)],
  )
  return rows.length > 0
}

/**
 * Removes charges and entries whose sums are in a balance. A charge and its entry are removed in one step. Grants, payments and
 * corrections stay: they are few, and a repeated payment is recognised by its entry.
 */
export async function removeFolded(
  database: Database,
  balance: LedgerCheckpoint,
  pause: () => Promise<void>,
): Promise<number> {
  const { organizationId, timeMs } = balance
  const params = [organizationId, timeMs, lowestIdAt('cre', timeMs)]
  let removed = 0
  for (;;) {
    const rows = await database.read<{ request_id: string; id: string }>(
      `select request_id, id from charge where organization_id = $1 and at < $2 and id < $3
       order by at, project_id, id limit ${batchSize}`,
      params,
    )
    if (rows.length === 0) break
    const requests = rows.map((row) => row.request_id)
    const entries = rows.map((row) => row.id)
    await database.write([
      { sql: `delete from charge where request_id in (${parameters(requests)})`, params: requests },
      {
        sql: `delete from credit_entry where organization_id = $1 and kind = 'usage' and id in (${parameters(entries, 2)})`,
        params: [organizationId, ...entries],
      },
    ])
    removed += rows.length
    await pause()
  }
  while (await removeSliceEntries(database, balance)) await pause()
  return removed
}

/** Removes old charges without credits. They have no entry in the ledger, and the sums have their usage. */
export async function removeUnpaid(database: Database, beforeMs: number, pause: () => Promise<void>): Promise<void> {
  const organizations = await database.read<{ id: string }>('select id from organization')
  // It may pass many paid charges before it finds one: on SQLite no other statement waits for a report. A replica may still have them.
  const find = database.engine === 'sqlite' ? database.report : database.read
  for (const { id } of organizations) {
    for (let found = batchSize; found === batchSize;) {
      const rows = await find<{ request_id: string }>(
        `select request_id from charge where organization_id = $1 and at < $2 and micro = 0 and slice_id is null
         order by at, project_id, id limit ${batchSize}`,
        [id, beforeMs],
      )
      found = rows.length
      if (found === 0) break
      const requests = rows.map((row) => row.request_id)
      await database.write([
        { sql: `delete from charge where request_id in (${parameters(requests)})`, params: requests },
      ])
      await pause()
    }
  }
}

async function removeSliceEntries(
  database: Database,
  { organizationId, lastEntryId }: LedgerCheckpoint,
): Promise<boolean> {
  const removal: Statement = {
    sql: `delete from credit_entry where organization_id = $1 and id in (select id from credit_entry
      where organization_id = $1 and id <= $2 and kind = 'slice' order by id limit ${batchSize})`,
    params: [organizationId, lastEntryId],
  }
  const [result] = await database.write([removal])
  return result?.changed === batchSize
}

const parameters = (values: readonly unknown[], first = 1): string => values.map((_, at) => `$${at + first}`).join(', ')
