import { systemClock, type Clock } from '../../../../base/clock.ts'
import { appendToChain, startOfChain, type ChainHead } from '../../../../domain/audit/chain/chain.ts'
import type { AuditEvent } from '../../../../domain/audit/event/event.ts'
import type { AuditAppender } from '../../../../domain/audit/log.ts'
import type { ChainedEvent } from '../../../../domain/audit/chain/chained-event.ts'
import { sampleInsertions } from './replay-sample.ts'
import { contentInsertion, headUpdate, insertionsOf } from './rows.ts'
import { entriesOfEvent } from '../../../../domain/rollup/entry.ts'
import { deltaInsertions } from '../rollup/deltas.ts'
import { UnexpectedRows, type Database, type Statement, type Transaction } from '../database.ts'

type HeadRow = { chain_uid: string; sequence: number; fingerprint: string; event_id: string; type_uid: number }

/** The cache of heads is cleared above this size; a head that is not cached is read from the database. */
const maxCachedHeads = 10_000

/** The chain to append to, and the installation that appends. */
export type ChainPosition = {
  readonly organizationId: string
  readonly authorityUid: string
  /** For a retry whose first attempt may have succeeded: skips events that the chain already has. */
  readonly mayRepeat?: boolean
  /** Whether bodies are written to `audit_body`, from where a job compresses them, instead of `audit_event`. */
  readonly staged?: boolean
}

export type Appended = { readonly rows: readonly ChainedEvent[]; readonly head: ChainHead }

/**
 * Appends inside a transaction that may change more than the log. Updating the head's row locks it until the commit, so that
 * nodes append one after the other: sequences have no gap, and events become visible in order.
 */
export async function appendInTransaction(
  tx: Transaction,
  events: readonly AuditEvent[],
  position: ChainPosition,
): Promise<Appended> {
  const from = await lockHead(tx, position.organizationId)
  const unwritten = position.mayRepeat && events.length > 0 ? await withoutExisting(tx, events) : events
  const { statements, ...appended } = appendStatements(from, unwritten, position)
  for (const { sql, params } of statements) await tx.run(sql, params)
  return appended
}

export type ChainAppender = AuditAppender & {
  /** Call it when a transaction has moved the head of a chain, because a step from the old head would be rolled back. */
  setHead(organizationId: string, head: ChainHead): void
}

export type AppenderOptions = {
  readonly authorityUid: string
  /** False while a node may read the log that does not know staged bodies. */
  readonly canStage?: () => boolean
  readonly clock?: Pick<Clock, 'monotonicMs'>
  /** PostgreSQL only: called when an append has locked the head of its chain, with the time that it waited for it. */
  readonly onLocked?: ((waitMs: number) => void) | undefined
}

/** The organization's first event creates its chain. */
class MissingChain extends Error {}

/**
 * Appends for callers that change nothing else. The embedded engine has only this process, so the head of the chain is cached and
 * the append is one step, which shares its commit with others that arrive together. If the head has moved, the step is
 * rolled back and repeated as a transaction. On PostgreSQL all nodes wait for the lock on the head, so everything after it is sent at once.
 */
export function createAuditAppender(
  database: Database,
  { authorityUid, canStage = () => true, clock = systemClock, onLocked = () => {} }: AppenderOptions,
): ChainAppender {
  const heads = new Map<string, ChainHead>()

  const cacheHead = (organizationId: string, head: ChainHead): void => {
    if (database.engine !== 'sqlite') return // other nodes move the heads, too
    if (heads.size >= maxCachedHeads) heads.clear()
    heads.set(organizationId, head)
  }

  async function appendByStep(
    from: ChainHead,
    events: readonly AuditEvent[],
    organizationId: string,
  ): Promise<boolean> {
    const position = { organizationId, authorityUid, staged: canStage() }
    const { head, statements } = appendStatements(from, events, position)
    cacheHead(organizationId, head) // now, because the next group is prepared while this one is being written
    try {
      await database.write(statements)
      return true
    } catch (error) {
      heads.delete(organizationId)
      if (error instanceof UnexpectedRows) return false
      throw error
    }
  }

  /** False if the organization has no chain yet. */
  async function appendToLockedHead(events: readonly AuditEvent[], position: ChainPosition): Promise<boolean> {
    const startMs = clock.monotonicMs()
    try {
      await database.writeAfter<HeadRow>([{ sql: lockRow, params: [position.organizationId] }], ([row]) => {
        if (row === undefined) throw new MissingChain()
        onLocked(clock.monotonicMs() - startMs)
        return appendStatements(headOf(row), events, position).statements
      })
      return true
    } catch (error) {
      if (error instanceof MissingChain) return false
      throw error
    }
  }

  return {
    async append(organizationId, events, mayRepeat = false) {
      const position = { organizationId, authorityUid, mayRepeat, staged: canStage() }
      // Without events the transaction still updates the head's row, which tests whether the log can be written.
      if (!mayRepeat && events.length > 0) {
        const cached = heads.get(organizationId)
        if (cached && (await appendByStep(cached, events, organizationId))) return
        if (database.engine === 'postgres' && (await appendToLockedHead(events, position))) return
      }
      const { head } = await database.transaction((tx) => appendInTransaction(tx, events, position))
      cacheHead(organizationId, head)
    },
    setHead: cacheHead,
  }
}

function appendStatements(
  from: ChainHead,
  events: readonly AuditEvent[],
  { organizationId, authorityUid, staged = false }: ChainPosition,
) {
  const documents = events.map(({ document }) => document)
  const { head, rows } = appendToChain(from, documents, authorityUid)
  const contents = rows.flatMap((row, at): Statement[] => {
    const { content, sample } = events[at] ?? {}
    if (sample) return sampleInsertions(row, sample)
    return content ? [contentInsertion(row, content)] : []
  })
  const deltas = rows.flatMap((row) => entriesOfEvent(row).map((entry) => ({ organizationId, id: row.id, entry })))
  const statements =
    rows.length === 0
      ? []
      : [
          headUpdate(organizationId, from, head),
          ...insertionsOf(rows, { staged }),
          ...contents,
          ...deltaInsertions(deltas),
        ]
  return { head, rows, statements }
}

const headColumns = 'chain_uid, sequence, fingerprint, event_id, type_uid'
const lock = `update audit_chain set sequence = sequence where organization_id = $1 returning ${headColumns}`

/** The same lock without another version of the row, which SQLite does not know. */
const lockRow = `select ${headColumns} from audit_chain where organization_id = $1 for no key update`

/** Locks the head of a chain until the transaction ends; creates the chain if it does not exist. */
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
  const [created] = await tx.query<HeadRow>(lock, [organizationId])
  if (!created) throw new Error(`the audit chain of ${organizationId} cannot be created`)
  return headOf(created)
}

const headOf = ({ chain_uid: chainUid, event_id: eventUid, type_uid: typeUid, ...row }: HeadRow): ChainHead => ({
  chainUid,
  eventUid,
  typeUid,
  sequence: row.sequence,
  fingerprint: row.fingerprint,
})

async function withoutExisting(tx: Transaction, events: readonly AuditEvent[]): Promise<readonly AuditEvent[]> {
  const ids = events.map(({ document }) => document.metadata.uid)
  const placeholders = ids.map((_, at) => `$${at + 1}`).join(', ')
  const rows = await tx.query<{ id: string }>(`select id from audit_event where id in (${placeholders})`, ids)
  const existing = new Set(rows.map(({ id }) => id))
  return events.filter(({ document }) => !existing.has(document.metadata.uid))
}
