import { appendToChain, startOfChain, type ChainHead } from '../../../../domain/audit/chain/chain.ts'
import type { AuditEvent } from '../../../../domain/audit/event/event.ts'
import type { AuditAppender } from '../../../../domain/audit/log.ts'
import type { ChainedEvent } from '../../../../domain/audit/chain/chained-event.ts'
import { contentInsertion, headUpdate, insertionsOf } from './rows.ts'
import { UnexpectedRows, type Database, type Statement, type Transaction } from '../database.ts'

type HeadRow = { chain_uid: string; sequence: number; fingerprint: string; event_id: string; type_uid: number }

/** Beyond this many the memory is begun anew; a head that is not remembered is read. */
const maxRememberedHeads = 10_000

/** Whose chain, and who vouches for what is added. */
export type ChainPosition = {
  readonly organizationId: string
  readonly authorityUid: string
  /** A second try whose first may have succeeded: what is there already is left out. */
  readonly mayRepeat?: boolean
}

export type Appended = { readonly rows: readonly ChainedEvent[]; readonly head: ChainHead }

/**
 * Appends inside a transaction, which may change more than the log. Touching the head's row holds it until the commit,
 * so that nodes append one after the other: sequences have no gap, and no reader sees one commit before an earlier one.
 */
export async function appendInTransaction(
  tx: Transaction,
  events: readonly AuditEvent[],
  place: ChainPosition,
): Promise<Appended> {
  const from = await lockHead(tx, place.organizationId)
  const missing = place.mayRepeat && events.length > 0 ? await withoutKnown(tx, events) : events
  const { statements, ...appended } = sealed(from, missing, place)
  for (const { sql, params } of statements) await tx.run(sql, params)
  return appended
}

/**
 * Appends for those who change nothing else. With the embedded engine this process is the only one, so the end of the
 * chain is remembered and the append is one step, which shares its commit with others that arrive together; a step
 * that met a moved head is undone and done again the other way.
 */
export function createAuditAppender(database: Database, authority: { readonly authorityUid: string }): AuditAppender {
  const heads = new Map<string, ChainHead>()

  const remember = (organizationId: string, head: ChainHead): void => {
    if (heads.size >= maxRememberedHeads) heads.clear()
    heads.set(organizationId, head)
  }

  async function appendByStep(
    from: ChainHead,
    events: readonly AuditEvent[],
    organizationId: string,
  ): Promise<boolean> {
    const { authorityUid } = authority
    const { head, statements } = sealed(from, events, { organizationId, authorityUid })
    remember(organizationId, head) // at once: the next group is sealed while this one is being written
    try {
      await database.write(statements)
      return true
    } catch (error) {
      heads.delete(organizationId)
      if (error instanceof UnexpectedRows) return false
      throw error
    }
  }

  return {
    async append(organizationId, events, mayRepeat = false) {
      // Without events the transaction still writes to the head's row, which tells whether the log can be written.
      const isStep = database.engine === 'sqlite' && !mayRepeat && events.length > 0
      const known = isStep ? heads.get(organizationId) : undefined
      if (known && (await appendByStep(known, events, organizationId))) return
      const place = { organizationId, authorityUid: authority.authorityUid, mayRepeat }
      const { head } = await database.transaction((tx) => appendInTransaction(tx, events, place))
      if (database.engine === 'sqlite') remember(organizationId, head)
    },
  }
}

function sealed(from: ChainHead, events: readonly AuditEvent[], { organizationId, authorityUid }: ChainPosition) {
  const documents = events.map(({ document }) => document)
  const { head, rows } = appendToChain(from, documents, authorityUid)
  const contents = rows.flatMap((row, at): Statement[] => {
    const content = events[at]?.content
    return content ? [contentInsertion(row, content)] : []
  })
  const statements =
    rows.length === 0 ? [] : [headUpdate(organizationId, from, head), ...insertionsOf(rows), ...contents]
  return { head, rows, statements }
}

const lock = `update audit_chain set sequence = sequence where organization_id = $1
  returning chain_uid, sequence, fingerprint, event_id, type_uid`

/** Holds the end of a chain until the transaction is over; begins the chain where there is none. */
export async function lockHead(tx: Transaction, organizationId: string): Promise<ChainHead> {
  const [row] = await tx.query<HeadRow>(lock, [organizationId])
  if (row) return headOf(row)
  const { chainUid } = startOfChain(organizationId)
  await tx.run(
    `insert into audit_chain
       (organization_id, chain_uid, sequence, fingerprint, event_id, type_uid, first_sequence, signed_sequence, signed_at)
     values ($1, $2, 0, '', '', 0, 1, 0, 0) on conflict (organization_id) do nothing`,
    [organizationId, chainUid],
  )
  const [made] = await tx.query<HeadRow>(lock, [organizationId])
  if (!made) throw new Error(`the audit chain of ${organizationId} cannot be begun`)
  return headOf(made)
}

const headOf = ({ chain_uid: chainUid, event_id: eventUid, type_uid: typeUid, ...rest }: HeadRow): ChainHead => ({
  chainUid,
  eventUid,
  typeUid,
  sequence: rest.sequence,
  fingerprint: rest.fingerprint,
})

async function withoutKnown(tx: Transaction, events: readonly AuditEvent[]): Promise<readonly AuditEvent[]> {
  const ids = events.map(({ document }) => document.metadata.uid)
  const places = ids.map((_, at) => `$${at + 1}`).join(', ')
  const rows = await tx.query<{ id: string }>(`select id from audit_event where id in (${places})`, ids)
  const known = new Set(rows.map(({ id }) => id))
  return events.filter(({ document }) => !known.has(document.metadata.uid))
}
