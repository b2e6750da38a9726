import { dayMs, type Clock } from '../../../../base/clock.ts'
import { messageOf } from '../../../../base/fault.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import { archiveUpTo, type Archive } from './archive.ts'
import { lastArchived } from './archived-objects.ts'
import { appendInTransaction, lockHead } from './chain.ts'
import { blockOf, lastOfBlock, packBlock, unpackBlock } from './blocks.ts'
import type { Database, Statement, Transaction } from '../database.ts'

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
  for (const { organization_id: organizationId } of old) {
    await database.transaction((tx) => moveStart(tx, organizationId, parts))
  }
  for (const chain of await chainsToClean(database)) await removeExpired(parts, chain)
  if (failures.length > 0) throw new ArchiveFailed(failures)
  return old.length
}

/** Events that were signed before this time have expired. An archive gets whole days in UTC. */
function expiryOf({ clock, keepMs, archive }: RetentionParts): number {
  const oldMs = clock.nowMs() - keepMs
  return archive ? Math.floor(oldMs / dayMs) * dayMs : oldMs
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

async function moveStart(tx: Transaction, organizationId: string, parts: RetentionParts): Promise<void> {
  await lockHead(tx, organizationId)
  const last = parts.archive ? ((await lastArchived(tx, organizationId)) ?? 0) : Number.MAX_SAFE_INTEGER
  const cut = await cutOf(tx, organizationId, { ...parts, last })
  const [chain] = await tx.query<{ first_sequence: number }>(
    'select first_sequence from audit_chain where organization_id = $1',
    [organizationId],
  )
  if (cut === null || !chain || cut < chain.first_sequence) return
  await tx.run('update audit_chain set first_sequence = $2 where organization_id = $1', [organizationId, cut + 1])
  await tx.run('delete from audit_checkpoint where organization_id = $1 and sequence < $2', [organizationId, cut])
  const { makeEvent, authorityUid } = parts.events
  const event = makeEvent({
    code: 'audit.trimmed',
    organizationId,
    timeMs: parts.clock.nowMs(),
    message: `Removed events ${chain.first_sequence} to ${cut}, which were kept long enough.`,
    details: { first_sequence: chain.first_sequence, last_sequence: cut },
  })
  await appendInTransaction(tx, [event], { organizationId, authorityUid })
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
       where k.organization_id = $1 and s.enabled = 1 and s.deleted_at is null))`,
    [organizationId, oldMs, oldMs - parts.maxBacklogMs, last],
  )
  return row?.cut ?? null
}

type ExpiredRows = { organization_id: string; from_sequence: number; first_sequence: number }

/** Chains with rows before their start: just cut, or left by a process that ended early. */
const chainsToClean = (database: Database): Promise<ExpiredRows[]> =>
  database.read<ExpiredRows>(
    `select h.organization_id, h.first_sequence,
       (select min(e.sequence) from audit_event e where e.organization_id = h.organization_id) as from_sequence
     from audit_chain h where h.first_sequence > 1
       and exists (select 1 from audit_event e where e.organization_id = h.organization_id and e.sequence < h.first_sequence)`,
  )

/** Removes one block of events in a step. Other writers wait for one step, and then have as much time as it took. */
async function removeExpired({ database, clock }: RetentionParts, chain: ExpiredRows): Promise<void> {
  const { organization_id: organizationId, from_sequence: from, first_sequence: end } = chain
  for (let at = from, to = from; at < end; at = to) {
    to = Math.min(lastOfBlock(blockOf(at)) + 1, end)
    const startMs = clock.monotonicMs()
    const params = [organizationId, at, to]
    const within = 'where organization_id = $1 and sequence >= $2 and sequence < $3'
    await database.write([
      { sql: `delete from export_dead_letter ${within}`, params },
      { sql: `delete from audit_content ${within}`, params },
      { sql: `delete from audit_body ${within}`, params },
      ...(await blockRemovals(database, organizationId, to)),
      // Last, because `chainsToClean` finds the range by these rows.
      { sql: `delete from audit_event ${within}`, params },
    ])
    if (to < end) await new Promise<void>((resolve) => clock.after(clock.monotonicMs() - startMs, resolve))
  }
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
  const unpacked = [...(await unpackBlock(block, row.bodies))]
  const kept = unpacked.filter(([sequence]) => sequence >= end)
  if (kept.length === unpacked.length) return [removal] // also if the block is damaged
  const bodies = await packBlock(block, new Map(kept))
  const sql = `update audit_block set bodies = $3 ${where} = $2 and bodies = $4`
  return [removal, { sql, params: [organizationId, block, bodies, row.bodies], expect: 1 }]
}
