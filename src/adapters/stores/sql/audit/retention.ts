import { dayMs, minuteMs, type Clock } from '../../../../base/clock.ts'
import { messageOf } from '../../../../base/fault.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import { archiveUpTo, type Archive } from './archive.ts'
import { lastArchived } from './archived-objects.ts'
import { appendInTransaction, lockHead } from './chain.ts'
import { blockOf, blockSize, lastOfBlock } from './block-codec.ts'
import { packBlock, unpackBlocks } from './block-thread.ts'
import { dropPartitions, startOfDay, startOfWidePartition } from './partitions.ts'
import { UnexpectedRows, type Database, type Statement, type Transaction } from '../database.ts'

export type RetentionParts = {
  readonly database: Database
  readonly clock: Clock
  readonly events: EventMaker
  readonly keepMs: number
  /** How much longer events are kept for a sink that has not received them. */
  readonly maxBacklogMs: number
  /** Where events are written before they are removed. */
  readonly archive?: Archive | undefined
}

/** Some events could not be written to the archive, so they were not removed. */
export class ArchiveFailed extends Error {
  constructor(failures: readonly { readonly organizationId: string; readonly cause: unknown }[]) {
    const [first] = failures
    const others = failures.length > 1 ? ` (and ${failures.length - 1} more)` : ''
    super(
      `the audit log of ${first?.organizationId}${others} cannot be archived, so its old events are kept: ${messageOf(first?.cause)}`,
    )
    this.name = 'ArchiveFailed'
  }
}

/**
 * Removes expired events from the start of each chain. A chain is cut only at a checkpoint, which becomes the new start, so that
 * the remaining events can still be verified. With an archive, nothing is removed that is not archived. Returns how many chains had
 * expired events. Rejects with `ArchiveFailed`, after the other chains were cut.
 */
export async function trimChains(parts: RetentionParts): Promise<number> {
  const { database } = parts
  const old = await database.read<{ organization_id: string }>(
    `select h.organization_id from audit_chain h where exists (select 1 from audit_checkpoint c
     where c.organization_id = h.organization_id and c.time < $1 and c.sequence >= h.first_sequence)`,
    [expiryOf(parts)],
  )
  const failures = await archiveChains(
    parts,
    old.map(({ organization_id: id }) => id),
  )
  const cuts: ExpiredRows[] = []
  for (const { organization_id: organizationId } of old) {
    const cut = await database.transaction((tx) => moveStart(tx, organizationId, parts))
    if (cut !== undefined) cuts.push(cut)
  }
  // Otherwise the next run removes what is left, most of it by dropping a partition.
  const canRemove = database.engine === 'sqlite' || (await dropPartitions(database, { beforeMs: expiryOf(parts) }))
  if (canRemove) {
    const rowsBeforeMs = await rowsToDelete(parts)
    for (const chain of await chainsToClean(parts, { cuts, rowsBeforeMs }))
      await removeExpired(parts, { ...chain, rowsBeforeMs }).catch(unlessOtherNode)
  }
  if (failures.length > 0) throw new ArchiveFailed(failures)
  return old.length
}

/** Longer than the time between two checkpoints of a chain. */
const afterMidnightMs = 65 * minuteMs

/**
 * Events that were signed before this time have expired. An archive gets whole days in UTC. On PostgreSQL, partitions are whole
 * days: shortly after midnight every chain has a checkpoint that covers all events of the day before.
 */
function expiryOf({ clock, keepMs, archive, database }: RetentionParts): number {
  const oldMs = clock.nowMs() - keepMs
  if (archive) return startOfDay(oldMs)
  return database.engine === 'sqlite' ? oldMs : startOfDay(oldMs - afterMidnightMs) + afterMidnightMs
}

/** A chain that cannot be archived does not stop the others. */
async function archiveChains(parts: RetentionParts, organizationIds: readonly string[]) {
  const { archive, database, clock } = parts
  const failures: { organizationId: string; cause: unknown }[] = []
  if (!archive) return failures
  for (const organizationId of organizationIds) {
    try {
      const cut = await cutOf({ query: (sql, params) => database.read(sql, params) }, organizationId, parts)
      if (cut !== null) await archiveUpTo({ archive, database, clock }, organizationId, cut)
    } catch (cause) {
      failures.push({ organizationId, cause })
    }
  }
  return failures
}

/** Returns the events that are no longer part of the chain, if there are any. */
async function moveStart(
  tx: Transaction,
  organizationId: string,
  parts: RetentionParts,
): Promise<ExpiredRows | undefined> {
  await lockHead(tx, organizationId)
  const last = parts.archive ? ((await lastArchived(tx, organizationId)) ?? 0) : Number.MAX_SAFE_INTEGER
  const cut = await cutOf(tx, organizationId, { ...parts, last })
  const [chain] = await tx.query<{ first_sequence: number }>(
    'select first_sequence from audit_chain where organization_id = $1',
    [organizationId],
  )
  if (cut === null || !chain || cut < chain.first_sequence) return undefined
  await tx.run('update audit_chain set first_sequence = $2 where organization_id = $1', [organizationId, cut + 1])
  await tx.run('delete from audit_checkpoint where organization_id = $1 and sequence < $2', [organizationId, cut])
  await tx.run('delete from export_dead_letter where organization_id = $1 and sequence <= $2', [organizationId, cut])
  const { makeEvent, authorityUid } = parts.events
  const event = makeEvent({
    code: 'audit.trimmed',
    organizationId,
    timeMs: parts.clock.nowMs(),
    message: `Removed events ${chain.first_sequence} to ${cut}, which were kept long enough.`,
    details: { first_sequence: chain.first_sequence, last_sequence: cut },
  })
  await appendInTransaction(tx, [event], { organizationId, authorityUid })
  return { organizationId, from: chain.first_sequence, end: cut + 1 }
}

/** The newest expired checkpoint that every sink has passed, or the newest that is older than any sink may require. */
async function cutOf(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  { last = Number.MAX_SAFE_INTEGER, ...parts }: RetentionParts & { readonly last?: number },
): Promise<number | null> {
  const oldMs = expiryOf(parts)
  const [row] = await tx.query<{ cut: number | null }>(
    `select max(c.sequence) as cut from audit_checkpoint c
     where c.organization_id = $1 and c.time < $2 and c.sequence <= $4 and (c.time < $3 or c.sequence <= (
       select coalesce(min(k.sequence), c.sequence) from export_cursor k join export_sink s on s.id = k.sink_id
       where k.organization_id = $1 and s.enabled = 1 and s.deleted_at is null and s.sends = 'events'))`,
    [organizationId, oldMs, oldMs - parts.maxBacklogMs, last],
  )
  return row?.cut ?? null
}

/**
 * The rows of expired events before this time are deleted. Events that are older than a checkpoint by their sequence are also
 * older by their time, up to the difference between the clocks of two nodes. On PostgreSQL, rows in a partition of several days stay until
 * it is dropped: no list shows events before the start of their chain, and their texts and bodies are deleted at once.
 */
async function rowsToDelete(parts: RetentionParts): Promise<number> {
  const expiryMs = expiryOf(parts)
  const startMs = parts.database.engine === 'sqlite' ? undefined : await startOfWidePartition(parts.database, expiryMs)
  return startMs ?? expiryMs + dayMs
}

type ExpiredRows = { readonly organizationId: string; readonly from: number; readonly end: number }

type StartRow = {
  organization_id: string
  first_sequence: number
  event: number | null
  content: number | null
  body: number | null
  block: number | null
}

/** Chains with rows before their start: just cut, or left by a process that ended early. */
async function chainsToClean(
  parts: RetentionParts,
  { cuts, rowsBeforeMs }: { readonly cuts: readonly ExpiredRows[]; readonly rowsBeforeMs: number },
): Promise<ExpiredRows[]> {
  const first = (column: string, table: string): string =>
    `(select min(t.${column}) from ${table} t where t.organization_id = h.organization_id)`
  const rows = await parts.database.read<StartRow>(
    `select h.organization_id, h.first_sequence,
       (select min(e.sequence) from audit_event e
        where e.organization_id = h.organization_id and e.sequence < h.first_sequence and e.time < ${rowsBeforeMs}) as event,
       ${first('sequence', 'audit_content')} as content, ${first('sequence', 'audit_body')} as body,
       ${first('block', 'audit_block')} as block
     from audit_chain h where h.first_sequence > 1`,
  )
  const starts = new Map(cuts.map(({ organizationId, from }) => [organizationId, from]))
  return rows
    .map((row) => {
      const { organization_id: organizationId, first_sequence: end, event, content, body, block } = row
      // The block of the first event is packed again when the chain is cut.
      const oldBlock = block !== null && block < blockOf(end) ? block * blockSize + 1 : null
      const found = [event, content, body, oldBlock, starts.get(organizationId)].flatMap((at) => at ?? [])
      return { organizationId, from: Math.min(...found), end }
    })
    .filter(({ from, end }) => from < end)
}

/** Blocks of events that are removed in one step. On SQLite all other writers wait for a step. */
const blocksPerStep = { sqlite: 1, postgres: 16 } as const

/** Removes events in steps. After each step, other writers have as much time as it took. */
async function removeExpired(
  { database, clock }: RetentionParts,
  { organizationId, from, end, rowsBeforeMs }: ExpiredRows & { readonly rowsBeforeMs: number },
): Promise<void> {
  for (let at = from, to = from; at < end; at = to) {
    to = Math.min(lastOfBlock(blockOf(at) + blocksPerStep[database.engine] - 1) + 1, end)
    const startMs = clock.monotonicMs()
    const params = [organizationId, at, to]
    const within = 'where organization_id = $1 and sequence >= $2 and sequence < $3'
    await database.write([
      { sql: `delete from audit_content ${within}`, params },
      { sql: `delete from audit_body ${within}`, params },
      ...(await blockRemovals(database, organizationId, to)),
      { sql: `delete from audit_event ${within} and time < ${rowsBeforeMs}`, params },
    ])
    if (to < end) await new Promise<void>((resolve) => clock.after(clock.monotonicMs() - startMs, resolve))
  }
}

/** Another node that removes the same events has packed their last block again. It removes the rest. */
function unlessOtherNode(error: unknown): void {
  if (!(error instanceof UnexpectedRows)) throw error
}

/** Removes the bodies before `end`. A block with later ones is packed again without them. */
async function blockRemovals(database: Database, organizationId: string, end: number): Promise<Statement[]> {
  const block = blockOf(end)
  const where = 'where organization_id = $1 and block'
  const removal = { sql: `delete from audit_block ${where} < $2`, params: [organizationId, block] }
  if (end === lastOfBlock(block - 1) + 1) return [removal]
  const [row] = await database.read<{ bodies: Uint8Array }>(`select bodies from audit_block ${where} = $2`, [
    organizationId,
    block,
  ])
  if (row === undefined) return [removal]
  const unpacked = [...(await unpackBlocks([{ block, packed: row.bodies }]))]
  const kept = unpacked.filter(([sequence]) => sequence >= end)
  if (kept.length === unpacked.length) return [removal] // also if the block is damaged
  const bodies = await packBlock(block, new Map(kept))
  const sql = `update audit_block set bodies = $3 ${where} = $2 and bodies = $4`
  return [removal, { sql, params: [organizationId, block, bodies, row.bodies], expect: 1 }]
}
