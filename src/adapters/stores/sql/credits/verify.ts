import type { BrokenRow, LedgerVerification } from '../../../../domain/credits/reports.ts'
import type { Transaction } from '../database.ts'

type Check = { readonly table: string; readonly says: string; readonly sql: string }

const sumWhere = (condition: string): string => `sum(case when ${condition} then e.micro else 0 end)`
const flow = (account: string): string =>
  `${sumWhere(`e.to_account = '${account}'`)} - ${sumWhere(`e.from_account = '${account}'`)}`

/** Millions of tokens and the remainder separately, because the product of a very large count and its rate exceeds 64 bits. */
const millions = (name: string): string => `${name}_tokens / 1000000 * ${name}_rate`
const remainder = (name: string): string => `${name}_tokens % 1000000 * ${name}_rate`
const sumOfClasses = (term: (name: string) => string): string =>
  ['input', 'cache_read', 'cache_write', 'output'].map(term).join(' + ')

/**
 * Checks all redundant sums and every receipt. Each query finds inconsistent rows by id. Entries and charges are checked before
 * the sums derived from them, so that the first finding is closest to the cause.
 */
const checks: readonly Check[] = [
  {
    table: 'charge',
    says: 'is not its tokens times its rates, rounded up once',
    sql: `select request_id as id from charge where micro <> case
        when slice_id is null or outcome in ('broken_off', 'orphaned') then 0
        else ${sumOfClasses(millions)} + (${sumOfClasses(remainder)} + 999999) / 1000000 end`,
  },
  {
    table: 'charge',
    says: 'has no entry',
    sql: `select c.request_id as id from charge c
      left join credit_entry e on e.organization_id = c.organization_id and e.id = c.id and e.kind = 'usage'
        and e.ref = c.request_id
      where c.micro > 0 and e.id is null`,
  },
  {
    table: 'credit_entry',
    says: 'has no charge of the same amount',
    sql: `select e.id from credit_entry e
      left join charge c on c.id = e.id and c.request_id = e.ref and c.organization_id = e.organization_id
      where e.kind = 'usage' and (c.id is null or c.micro <> e.micro)`,
  },
  {
    table: 'credit_entry',
    says: 'names no slice although it touches held credits, or one of another organization',
    sql: `select e.id from credit_entry e
      left join credit_slice s on s.id = e.slice_id and s.organization_id = e.organization_id
      where (e.from_account = 'held' or e.to_account = 'held') and s.id is null`,
  },
  {
    table: 'credit_slice',
    says: 'is not what its entries say',
    sql: `select s.id from credit_slice s left join (
        select e.slice_id, ${sumWhere(`e.note in ('opened', 'raised')`)} as amount,
          ${sumWhere(`e.kind = 'usage'`)} as settled, ${flow('held')} as held
        from credit_entry e where e.slice_id is not null group by e.slice_id) m on m.slice_id = s.id
      where s.amount <> coalesce(m.amount, 0) or s.settled <> coalesce(m.settled, 0)
        or coalesce(m.held, 0) <> case when s.state = 'closed' then 0 else s.amount - s.settled end`,
  },
  {
    table: 'credit_account',
    says: 'is not what its entries say',
    sql: `select a.organization_id as id from credit_account a left join (
        select e.organization_id, -(${flow('outside')}) as granted, ${flow('available')} as available,
          ${flow('held')} as held, ${flow('spent')} as spent
        from credit_entry e group by e.organization_id) m on m.organization_id = a.organization_id
      where a.granted <> coalesce(m.granted, 0) or a.available <> coalesce(m.available, 0)
        or a.held <> coalesce(m.held, 0) or a.spent <> coalesce(m.spent, 0)`,
  },
  {
    table: 'credit_account',
    says: 'is missing for an organization that has entries',
    sql: `select e.organization_id as id from credit_entry e
      left join credit_account a on a.organization_id = e.organization_id where a.organization_id is null`,
  },
  {
    table: 'credit_account',
    says: 'does not have granted = available + held + spent',
    sql: 'select organization_id as id from credit_account where granted <> available + held + spent',
  },
]

/** Recomputes the ledger and names the first inconsistent row. */
export async function verifyLedger(query: Transaction['query']): Promise<LedgerVerification> {
  const [counts] = await query<Omit<LedgerVerification, 'broken'>>(
    `select (select count(*) from credit_account) as organizations, (select count(*) from credit_entry) as entries,
       (select count(*) from charge) as charges, (select count(*) from credit_slice) as slices`,
  )
  const sums = counts ?? { organizations: 0, entries: 0, charges: 0, slices: 0 }
  return { ...sums, broken: await firstBroken(query) }
}

async function firstBroken(query: Transaction['query']): Promise<BrokenRow | null> {
  for (const { table, says, sql } of checks) {
    const [row] = await query<{ id: string }>(`select id from (${sql}) as broken order by id limit 1`)
    if (row !== undefined) return { table, id: row.id, says }
  }
  return null
}
