import type { AccountSums, SliceSums } from '../../../../../domain/credits/ledger-verification.ts'
import type { Transaction } from '../../database.ts'
import { rowsPerPage, type OnPage } from './charges.ts'
import type { LedgerFindings } from './findings.ts'

/** The sums of an organization's entries up to `lastId`. */
export type EntrySums = {
  readonly lastId: string
  readonly account: AccountSums
  readonly slices: ReadonlyMap<string, SliceSums>
}

export const noEntries: EntrySums = {
  lastId: '',
  account: { granted: 0, available: 0, held: 0, spent: 0 },
  slices: new Map(),
}

const sumWhere = (condition: string): string => `sum(case when ${condition} then micro else 0 end)`
const flow = (account: string): string =>
  `${sumWhere(`to_account = '${account}'`)} - ${sumWhere(`from_account = '${account}'`)}`

/**
 * The sums of one page of entries for each slice. The charge is a subquery of each row: PostgreSQL would read the whole table of
 * charges for a join.
 */
const sumPage = (bound: string): string => `select sums.*,
    (select s.id from credit_slice s where s.id = sums.slice_id and s.organization_id = $1) as known_slice
  from (select slice_id, count(*) as entries, max(id) as last_id,
      -(${flow('outside')}) as granted, ${flow('available')} as available, ${flow('held')} as held, ${flow('spent')} as spent,
      ${sumWhere(`note in ('opened', 'raised')`)} as amount, ${sumWhere(`kind = 'usage'`)} as settled,
      min(case when kind = 'usage' and coalesce(charge_micro, -1) <> micro then id end) as without_charge,
      min(case when slice_id is not null or from_account = 'held' or to_account = 'held' then id end) as needs_slice
    from (select e.id, e.slice_id, e.kind, e.note, e.from_account, e.to_account, e.micro,
        case when e.kind = 'usage' then (select c.micro from charge c where c.request_id = e.ref and c.id = e.id
          and c.organization_id = e.organization_id) end as charge_micro
      from credit_entry e where e.organization_id = $1 and e.id > $2 ${bound}
      order by e.id limit ${rowsPerPage}) as page
    group by slice_id) as sums`

const sumToEnd = sumPage('')
const sumBefore = sumPage('and e.id < $3')

type SumsRow = {
  slice_id: string | null
  known_slice: string | null
  entries: number
  last_id: string
  granted: number
  available: number
  held: number
  spent: number
  amount: number
  settled: number
  without_charge: string | null
  needs_slice: string | null
}

export type EntriesCheck = {
  readonly organizationId: string
  readonly start: EntrySums
  /** Only entries whose id is lower. */
  readonly beforeId?: string | undefined
  readonly findings: LedgerFindings
  readonly onPage: OnPage
}

/** Adds the entries after `start` to its sums, and checks that each has its charge and its slice. */
export async function addEntries(query: Transaction['query'], check: EntriesCheck): Promise<EntrySums> {
  const { organizationId, beforeId, findings, onPage } = check
  let { lastId, account } = check.start
  const slices = new Map(check.start.slices)
  for (;;) {
    const params = [organizationId, lastId, ...(beforeId === undefined ? [] : [beforeId])]
    const rows = await query<SumsRow>(beforeId === undefined ? sumToEnd : sumBefore, params)
    let read = 0
    for (const row of rows) {
      read += row.entries
      if (row.last_id > lastId) lastId = row.last_id
      account = addToAccount(account, row)
      findings.add('entryWithoutCharge', row.without_charge)
      if (row.known_slice === null) findings.add('entryWithoutSlice', row.needs_slice)
      if (row.slice_id !== null) slices.set(row.slice_id, addToSlice(slices.get(row.slice_id), row))
    }
    await onPage(read)
    if (read < rowsPerPage) return { lastId, account, slices }
  }
}

const addToAccount = (sums: AccountSums, row: SumsRow): AccountSums => ({
  granted: sums.granted + row.granted,
  available: sums.available + row.available,
  held: sums.held + row.held,
  spent: sums.spent + row.spent,
})

const addToSlice = (sums: SliceSums | undefined, row: SumsRow): SliceSums => ({
  amount: (sums?.amount ?? 0) + row.amount,
  settled: (sums?.settled ?? 0) + row.settled,
  held: (sums?.held ?? 0) + row.held,
})
