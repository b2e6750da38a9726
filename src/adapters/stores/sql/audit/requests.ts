import type {
  FirstRequest,
  LoggedEvent,
  NewRequestQuery,
  NewRequests,
  RequestCount,
  RequestFilter,
  RequestPage,
} from '../../../../domain/audit/log.ts'
import type { Page } from '../../../../domain/identity/store.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage, type Condition } from '../page.ts'
import { withBodies } from './blocks.ts'
import { unindexedSequence, type EventTable } from './conditions.ts'
import { isIndexed, periodConditions, requestConditions } from './request-conditions.ts'
import { eventColumns, eventTables, listColumns, loggedOf, plainRequest, type EventRow } from './rows.ts'
import { walkCount, walkPage, type SequenceListing, type WalkedPage } from './walk.ts'

type Reader = Pick<Transaction, 'query'> & EventTable

type Listed = { readonly organizationId: string; readonly filter: RequestFilter }

/** The first query finds sequences: on SQLite it needs only columns of `audit_event_facts`. The second one reads the events of the page. */
export async function listRequests(tx: Reader, listed: Listed & { readonly page: Page }): Promise<RequestPage> {
  const { organizationId, filter, page } = listed
  const found: WalkedPage = isIndexed(filter)
    ? await selectPage(tx, listingOf(tx, listed), page)
    : await walkPage(tx, walkOf(tx, listed), page)
  const { items: sequences, hasMore, stoppedAt } = found
  const events = await eventsAt(tx, organizationId, sequences)
  return {
    items: page.order === 'desc' ? events : events.toReversed(),
    hasMore,
    ...(stoppedAt !== undefined && { nextAfter: await eventIdAt(tx, organizationId, stoppedAt) }),
  }
}

export async function countRequests(tx: Reader, listed: Listed, most: number): Promise<RequestCount> {
  if (!isIndexed(listed.filter)) return walkCount(tx, walkOf(tx, listed), most)
  const count = await countRows(tx, listingOf(tx, listed), most + 1)
  return { count: Math.min(count, most), isExact: count <= most }
}

/** The first request of the log, in a period. */
export async function firstRequest(tx: Reader, listed: Listed): Promise<FirstRequest | undefined> {
  const { organizationId } = listed
  const { items } = await selectPage(tx, listingOf(tx, listed), { limit: 1, order: 'asc' })
  const [sequence] = items
  if (sequence === undefined) return undefined
  const [row] = await tx.query<{ time: number; first_sequence: number }>(
    `select e.time, c.first_sequence from audit_event e join audit_chain c on c.organization_id = e.organization_id
     where e.organization_id = $1 and e.sequence = $2`,
    [organizationId, sequence],
  )
  return row && { timeMs: row.time, isTrimmed: row.first_sequence > 1 }
}

const listingOf = (table: EventTable, { organizationId, filter }: Listed, more: readonly Condition[] = []) =>
  sequencesOf(organizationId, [...requestConditions(filter, table), ...more])

const walkOf = (table: EventTable, listed: Listed) => ({
  listing: listingOf(table, listed),
  period: sequencesOf(listed.organizationId, periodConditions(listed.filter, table)),
  limits: table.walk,
})

const sequencesOf = (organizationId: string, only: readonly Condition[]): SequenceListing => ({
  table: 'audit_event e',
  columns: 'e.sequence',
  where: { 'e.organization_id': organizationId },
  only,
  id: 'e.id',
  by: 'e.sequence',
  map: ({ sequence }) => sequence,
})

async function eventIdAt(tx: Pick<Transaction, 'query'>, organizationId: string, sequence: number): Promise<string> {
  const [row] = await tx.query<{ id: string }>(
    'select id from audit_event where organization_id = $1 and sequence = $2',
    [organizationId, sequence],
  )
  if (row === undefined) throw new Error(`event ${sequence} was removed while it was read`)
  return row.id
}

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
