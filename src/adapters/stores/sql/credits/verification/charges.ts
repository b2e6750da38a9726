import type { Transaction } from '../../database.ts'
import type { LedgerFindings } from './findings.ts'

/** Rows that one statement reads. Small, so that no statement takes long and progress is reported often. */
export const rowsPerPage = 2_000

/** Awaited after each page with the number of its rows. */
export type OnPage = (rows: number) => Promise<void>

/** Millions of tokens and the remainder separately, because the product of a very large count and its rate exceeds 64 bits. */
const millions = (name: string): string => `${name}_tokens / 1000000 * ${name}_rate`
const remainder = (name: string): string => `${name}_tokens % 1000000 * ${name}_rate`
const sumOfClasses = (term: (name: string) => string): string =>
  ['input', 'cache_read', 'cache_write', 'output'].map(term).join(' + ')

const cost = `case when slice_id is null or outcome in ('broken_off', 'orphaned') then 0
  else ${sumOfClasses(millions)} + (${sumOfClasses(remainder)} + 999999) / 1000000 end`

/** In the order of an index, so that a page needs no sort. */
const order = 'at, project_id, id'
const after = `organization_id = $1 and (${order}) > ($2, $3, $4)`

const selectPageEnd = `select ${order} from charge where ${after} order by ${order} limit 1 offset ${rowsPerPage - 1}`

/** The entry is a subquery of each row: PostgreSQL would read the whole table of entries for a join. */
const checkPage = (where: string): string => `select count(*) as charges,
    min(case when micro <> cost then request_id end) as wrong_cost,
    min(case when micro > 0 and entry_id is null then request_id end) as without_entry
  from (select request_id, micro, ${cost} as cost, (select e.id from credit_entry e
      where e.organization_id = c.organization_id and e.id = c.id and e.kind = 'usage' and e.ref = c.request_id) as entry_id
    from charge c where ${where}) as page`

const checkToEnd = checkPage(after)
const checkUpTo = checkPage(`${after} and (${order}) <= ($5, $6, $7)`)

type PageEnd = { at: number; project_id: string; id: string }
type PageResult = { charges: number; wrong_cost: string | null; without_entry: string | null }

export type ChargesCheck = {
  readonly organizationId: string
  readonly fromMs: number
  readonly findings: LedgerFindings
  readonly onPage: OnPage
}

/** Checks the cost of each charge since `fromMs`, and that it has an entry. Both are written together, so no snapshot is needed. */
export async function checkCharges(
  query: Transaction['query'],
  { organizationId, fromMs, findings, onPage }: ChargesCheck,
): Promise<number> {
  let checked = 0
  let start: readonly [at: number, projectId: string, id: string] = [fromMs - 1, '', '']
  for (;;) {
    const [end] = await query<PageEnd>(selectPageEnd, [organizationId, ...start])
    const upTo = end && ([end.at, end.project_id, end.id] as const)
    const [page] = await query<PageResult>(upTo ? checkUpTo : checkToEnd, [organizationId, ...start, ...(upTo ?? [])])
    findings.add('cost', page?.wrong_cost)
    findings.add('chargeWithoutEntry', page?.without_entry)
    checked += page?.charges ?? 0
    await onPage(page?.charges ?? 0)
    if (upTo === undefined) return checked
    start = upTo
  }
}
