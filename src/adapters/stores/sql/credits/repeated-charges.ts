import { entryOfCharge } from '../../../../domain/rollup/entry.ts'
import type { Settled } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Statement } from '../database.ts'
import { createBulkInsert } from '../bulk-insert.ts'
import { accountLocks, chargeColumns, chargeValues, outcomeOf, type Attempt } from './rows.ts'

type SettledRow = {
  request_id: string
  id: string
  outcome: string
  micro: number
  state: string | null
  remaining: number | null
}

/**
 * Writes charges of which some may exist already, as one transaction: new rows, their entries, slices and accounts. An existing
 * row stays unchanged and moves no credits: each attempt has an id of its own, and only rows with that id are counted.
 */
export async function writeRepeatedCharges(database: Database, attempts: readonly Attempt[]): Promise<Settled[]> {
  // Charges without credits are only counts of usage.
  const waitsForDisk = attempts.some(({ charge }) => charge.sliceId !== null)
  const results = await database.write(stepFor(database.engine, attempts), { waitsForDisk })
  const settled = (results.at(-1)?.rows ?? []) as SettledRow[]
  const rows = new Map(settled.map((row) => [row.request_id, row]))
  return attempts.map(({ charge, id }) => settledOf(rows.get(charge.requestId), id))
}

const insertCharges = createBulkInsert({
  table: 'charge',
  columns: chargeColumns,
  suffix: 'on conflict (request_id) do nothing',
})

function stepFor(engine: Database['engine'], attempts: readonly Attempt[]): Statement[] {
  const organizations = new Set(attempts.map(({ charge }) => charge.organizationId))
  // If a request is repeated, only its first attempt can have been written.
  const idByRequest = Object.fromEntries(attempts.toReversed().map(({ charge, id }) => [charge.requestId, id]))
  const params = [JSON.stringify(idByRequest)]
  const { moves, outcome } = textsOf(engine)
  const texts = attempts.every(({ charge }) => charge.micro === 0) ? [outcome] : [...moves, outcome]
  return [
    ...accountLocks(engine, organizations),
    ...insertCharges(attempts.map(chargeValues)),
    ...newDeltas(engine, attempts),
    ...texts.map((sql): Statement => ({ sql, params })),
  ]
}

/** Stores what the new charges add to the sums of usage, one row for each organization. */
function newDeltas(engine: Database['engine'], attempts: readonly Attempt[]): Statement[] {
  const byRequest = attempts.toReversed().flatMap(({ charge, id }) => {
    const entry = entryOfCharge(charge)
    return entry === undefined ? [] : [[charge.requestId, [id, entry]] as const]
  })
  if (byRequest.length === 0) return []
  const [given, id, entries] =
    engine === 'sqlite'
      ? ['json_each($1)', `json_extract(given.value, '$[0]')`, `json_group_array(json_extract(given.value, '$[1]'))`]
      : ['json_each(cast($1 as json))', 'given.value ->> 0', 'cast(json_agg(given.value -> 1) as text)']
  const sql = `insert into rollup_delta (organization_id, id, delta) select c.organization_id, min(c.id), ${entries}
    from ${given} as given join charge c on c.request_id = given.key and c.id = ${id} group by c.organization_id`
  return [{ sql, params: [JSON.stringify(Object.fromEntries(byRequest))] }]
}

/** The statements after the charges; `$1` is a JSON object of the attempts' ids by request. */
function textsOf(engine: Database['engine']): { readonly moves: readonly string[]; readonly outcome: string } {
  const attempts = engine === 'sqlite' ? 'json_each($1) as attempt' : 'json_each_text(cast($1 as json)) as attempt'
  const newCharges = `${attempts} join charge c on c.request_id = attempt.key and c.id = attempt.value`
  const newEntries = `${newCharges} join credit_entry e on e.organization_id = c.organization_id and e.id = c.id`
  return {
    moves: [
      // A charge that arrives after its slice was closed is paid from the available credits.
      `insert into credit_entry (id, organization_id, at, kind, from_account, to_account, micro, slice_id, ref, note)
       select c.id, c.organization_id, c.at, 'usage', case when s.id is null then 'available' else 'held' end, 'spent',
         c.micro, s.id, c.request_id, c.outcome
       from ${newCharges} left join credit_slice s on s.id = c.slice_id and s.state <> 'closed'
       where c.micro > 0`,
      // Joined by the new entries, because a slice has as many entries as paid requests.
      `update credit_slice set settled = settled + used.micro
       from (select e.slice_id, sum(e.micro) as micro from ${newEntries} group by e.slice_id) as used
       where credit_slice.id = used.slice_id`,
      `update credit_account set spent = spent + used.held + used.available, held = credit_account.held - used.held,
         available = credit_account.available - used.available
       from (select e.organization_id,
           sum(case when e.from_account = 'held' then e.micro else 0 end) as held,
           sum(case when e.from_account = 'held' then 0 else e.micro end) as available
         from ${newEntries} group by e.organization_id) as used
       where credit_account.organization_id = used.organization_id`,
    ],
    outcome: `select c.request_id, c.id, c.outcome, c.micro, s.state, a.granted - a.spent as remaining
      from ${attempts} join charge c on c.request_id = attempt.key
      left join credit_slice s on s.id = c.slice_id
      left join credit_account a on a.organization_id = c.organization_id`,
  }
}

function settledOf(row: SettledRow | undefined, id: string): Settled {
  if (row === undefined) throw new Error('a charge that was just written is missing')
  return {
    outcome: outcomeOf(row.outcome),
    micro: row.micro,
    isFirst: row.id === id,
    isSliceOpen: row.state === 'open',
    remainingMicro: row.remaining ?? 0,
  }
}
