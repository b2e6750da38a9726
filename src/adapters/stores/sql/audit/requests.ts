import type { LoggedEvent, NewRequestQuery, NewRequests, RequestFilter } from '../../../../domain/audit/log.ts'
import type { Page, Paged } from '../../../../domain/identity/store.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage, type Condition } from '../page.ts'
import { withBodies } from './blocks.ts'
import { equalities, orderOf, otherConditions, unindexedSequence, type EventTable } from './conditions.ts'
import { eventColumns, eventTables, listColumns, loggedOf, plainRequest, type EventRow } from './rows.ts'

type Reader = Pick<Transaction, 'query'> & EventTable

type Wanted = { readonly organizationId: string; readonly filter: RequestFilter; readonly page: Page }

/** The first query finds sequences: on SQLite it needs only columns of `audit_event_facts`. The second one reads the events of the page. */
export async function listRequests(tx: Reader, { organizationId, filter, page }: Wanted): Promise<Paged<LoggedEvent>> {
  const { items: sequences, hasMore } = await selectPage(tx, listingOf(tx, { organizationId, filter }), page)
  const events = await eventsAt(tx, organizationId, sequences)
  return { items: page.order === 'desc' ? events : events.toReversed(), hasMore }
}

type Listed = Pick<Wanted, 'organizationId' | 'filter'>

const listingOf = (table: EventTable, { organizationId, filter }: Listed, more: readonly Condition[] = []) => ({
  table: 'audit_event e',
  columns: 'e.sequence',
  where: { 'e.organization_id': organizationId, ...equalities(filter) },
  only: [isRequest, [otherConditions(filter, table)] as const, ...factConditions(filter), ...more],
  id: 'e.id',
  by: orderOf(filter, table),
  map: ({ sequence }: { sequence: number }) => sequence,
})

/** Newest first. */
async function eventsAt(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  sequences: readonly number[],
): Promise<LoggedEvent[]> {
  if (sequences.length === 0) return []
  const rows = await tx.query<EventRow>(
    `select ${listColumns} from ${eventTables}
     where e.organization_id = $1 and e.sequence in (${sequences.map((_, at) => `$${at + 2}`).join(', ')})
     order by e.sequence desc`,
    [organizationId, ...sequences],
  )
  return (await withBodies(tx, organizationId, rows)).map(loggedOf)
}

export async function newRequests(
  tx: Reader,
  organizationId: string,
  { filter, after, limit }: NewRequestQuery,
): Promise<NewRequests> {
  const [head] = await tx.query<{ sequence: number }>('select sequence from audit_chain where organization_id = $1', [
    organizationId,
  ])
  const sequence = head?.sequence ?? 0
  if (after === undefined || after >= sequence) return { count: 0, items: [], sequence }
  const listing = listingOf(tx, { organizationId, filter }, [
    ['e.sequence > ?', after],
    ['e.sequence <= ?', sequence],
  ])
  const count = await countRows(tx, listing)
  if (count === 0 || limit === 0) return { count, items: [], sequence }
  const { items: sequences } = await selectPage(tx, listing, { limit, order: 'desc' })
  return { count, items: await eventsAt(tx, organizationId, sequences), sequence }
}

export async function findRequest(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  requestId: string,
): Promise<LoggedEvent | undefined> {
  const rows = await tx.query<EventRow>(
    `select ${eventColumns} from ${eventTables}
     where e.request_id = $2 and e.organization_id = $1 and e.code = '${plainRequest}'
     order by ${unindexedSequence} desc limit 1`,
    [organizationId, requestId],
  )
  const [row] = await withBodies(tx, organizationId, rows)
  return row && loggedOf(row)
}

/** Written out, because an engine uses a partial index only if the query repeats its condition. */
const isRequest: Condition = [`e.code = '${plainRequest}'`]

function factConditions(filter: RequestFilter): Condition[] {
  const { model, status, reasonCode, category, minMs, minCostMicroUsd } = filter
  const conditions: (Condition | undefined)[] = [
    model === undefined ? undefined : ['e.model = ?', model],
    status === undefined ? undefined : ['e.status = ?', status],
    reasonCode === undefined ? undefined : ['e.reason_code = ?', reasonCode],
    category === undefined ? undefined : [`e.categories like ? escape '\\'`, `% ${escapeLike(category)} %`],
    minMs === undefined ? undefined : ['e.latency_ms >= ?', minMs],
    minCostMicroUsd === undefined ? undefined : ['e.cost_micro_usd >= ?', minCostMicroUsd],
  ]
  return conditions.filter((condition) => condition !== undefined)
}

/** `%` and `_` stand for themselves. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
