import type { Ids } from '../../../base/ids.ts'
import type { Charge } from '../../../domain/credits/charge.ts'
import type { Settled } from '../../../domain/credits/ledger-store.ts'
import type { Database, Statement } from './database.ts'
import {
  chargeColumns,
  chargeLocks,
  chargeValues,
  givenColumns,
  givenId,
  givenRequestId,
  givenRows,
  outcomeOf,
} from './ledger-rows.ts'

type SettledRow = {
  request_id: string
  id: string
  outcome: string
  micro: number
  state: string | null
  remaining: number | null
}

/**
 * Writes charges as one step: rows that are new, their entries, slices and accounts. A row that was there before stays as
 * it is and moves nothing: each attempt has an id of its own, and only rows with it count.
 */
export async function writeCharges(database: Database, ids: Ids, charges: readonly Charge[]): Promise<Settled[]> {
  const attempts = charges.map((charge) => ({ charge, id: ids('cre') }))
  const given = JSON.stringify(attempts.map(({ charge, id }) => chargeValues(charge, id)))
  const params = [given]
  const results = await database.write(stepFor(database.engine, charges).map((sql): Statement => ({ sql, params })))
  const settled = (results.at(-1)?.rows ?? []) as SettledRow[]
  const rows = new Map(settled.map((row) => [row.request_id, row]))
  return attempts.map(({ charge, id }) => settledOf(rows.get(charge.requestId), id))
}

function stepFor(engine: Database['engine'], charges: readonly Charge[]): string[] {
  const rows = givenRows(engine)
  const newEntries = `select ${givenId} from ${rows}`
  const insertion = `insert into charge (${chargeColumns}) select ${givenColumns} from ${rows} where true
    on conflict (request_id) do nothing`
  const moves = [
    // What comes after its slice was closed is paid from what is available.
    `insert into credit_entry (id, organization_id, at, kind, from_account, to_account, micro, slice_id, ref, note)
     select c.id, c.organization_id, c.at, 'usage', case when s.id is null then 'available' else 'held' end, 'spent',
       c.micro, s.id, c.request_id, c.outcome
     from ${rows} join charge c on c.request_id = ${givenRequestId} and c.id = ${givenId}
     left join credit_slice s on s.id = c.slice_id and s.state <> 'closed'
     where c.micro > 0`,
    // By the new entries and never by the slice: a slice has as many entries as it paid requests.
    `update credit_slice set settled = settled + used.micro
     from (select e.slice_id, sum(e.micro) as micro from credit_entry e where e.id in (${newEntries})
       group by e.slice_id) as used
     where credit_slice.id = used.slice_id`,
    `update credit_account set spent = spent + used.held + used.available, held = credit_account.held - used.held,
       available = credit_account.available - used.available
     from (select e.organization_id,
         sum(case when e.from_account = 'held' then e.micro else 0 end) as held,
         sum(case when e.from_account = 'held' then 0 else e.micro end) as available
       from credit_entry e where e.id in (${newEntries}) group by e.organization_id) as used
     where credit_account.organization_id = used.organization_id`,
  ]
  const outcome = `select c.request_id, c.id, c.outcome, c.micro, s.state, a.granted - a.spent as remaining
    from ${rows} join charge c on c.request_id = ${givenRequestId}
    left join credit_slice s on s.id = c.slice_id
    left join credit_account a on a.organization_id = c.organization_id`
  const movesNothing = charges.every(({ micro }) => micro === 0)
  return [...chargeLocks(engine), insertion, ...(movesNothing ? [] : moves), outcome]
}

function settledOf(row: SettledRow | undefined, id: string): Settled {
  if (row === undefined) throw new Error('a charge was written and is not there')
  return {
    outcome: outcomeOf(row.outcome),
    micro: row.micro,
    isFirst: row.id === id,
    isSliceOpen: row.state === 'open',
    remainingMicro: row.remaining ?? 0,
  }
}
