import { dayMs } from '../../../../base/clock.ts'
import { isFault } from '../../../../base/fault.ts'
import { DatabaseError, type Database, type Transaction } from '../database.ts'

/** A partition of `audit_event` on PostgreSQL: the events of a period. */
export type Partition = { readonly name: string; readonly fromMs: number; readonly toMs: number }

export type PartitionOptions = { readonly nowMs: number; readonly retentionDays: number }

/** Every statement that reads all events is planned for each partition, so a long retention has partitions of several days. */
const maxPartitions = 60
/** How long before its first event a partition is created. A node of another time zone or with a wrong clock is within it. */
const aheadMs = 7 * dayMs
/** Appends wait behind a statement that waits for its lock, so it gives up soon and is tried again in the next run. */
const lockTimeoutMs = 150
/** Events that may be moved while the table is locked. */
const defaultMaxMoved = 10_000
/** An arbitrary number, other than those of migrations, copies and sums. */
const advisoryLock = 4_617_317

/** The partitions that should exist and do not: from today, or from the end of the last one, to a week ahead. */
export function missingPartitions(
  existing: readonly Partition[],
  { nowMs, retentionDays }: PartitionOptions,
): Partition[] {
  const widthMs = Math.ceil(retentionDays / maxPartitions) * dayMs
  const missing: Partition[] = []
  const end = Math.max(...existing.map(({ toMs }) => toMs), startOfDay(nowMs))
  for (let fromMs = end, toMs = end; fromMs <= nowMs + aheadMs; fromMs = toMs) {
    toMs = (Math.floor(fromMs / widthMs) + 1) * widthMs
    missing.push({ name: nameOf(fromMs), fromMs, toMs })
  }
  return missing
}

export const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs

const nameOf = (fromMs: number): string =>
  `audit_event_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`

/**
 * Creates the missing partitions. Any number of nodes may call it. Returns those that cannot be created because the default
 * partition has events of their period; it keeps all events of that period.
 */
export async function createPartitions(database: Database, options: PartitionOptions): Promise<readonly Partition[]> {
  const query: Transaction['query'] = (sql, params) => database.read(sql, params)
  const occupied: Partition[] = []
  for (const partition of missingPartitions(await listPartitions(query), options)) {
    const outcome = await database.transaction((tx) => createPartition(tx, partition)).catch(outcomeOf)
    if (outcome === 'check') occupied.push(partition)
    if (outcome === 'locked') break // the next run continues here, so that no day is left out
  }
  return occupied
}

/** Without the default partition. */
export async function listPartitions(query: Transaction['query']): Promise<Partition[]> {
  const rows = await query<{ name: string; bound: string }>(
    `select cast(c.relname as text) as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = to_regclass('audit_event')`,
  )
  return rows
    .filter(({ bound }) => bound !== 'DEFAULT')
    .map(({ name, bound }) => ({ name, fromMs: boundOf('FROM', bound), toMs: boundOf('TO', bound) }))
    .sort((a, b) => a.fromMs - b.fromMs)
}

/** PostgreSQL writes `FOR VALUES FROM (MINVALUE) TO ('1790726400000')`. */
function boundOf(side: 'FROM' | 'TO', bound: string): number {
  const [, digits] = new RegExp(`${side} \\('?(\\d+)`).exec(bound) ?? []
  return digits === undefined ? -Infinity : Number(digits)
}

/**
 * Attaches a new table, which blocks neither appends nor, unless the default partition has many rows, reads. A table that is created as a
 * partition would block both.
 */
async function createPartition(
  tx: Transaction,
  { name, fromMs, toMs }: Partition,
): Promise<'created' | 'exists' | 'locked'> {
  await limitLockWait(tx)
  const [row] = await tx.query<{ locked: number }>('select pg_try_advisory_xact_lock($1) as locked', [advisoryLock])
  if (row?.locked !== 1) return 'locked' // another node creates partitions
  const existing = await listPartitions((sql, params) => tx.query(sql, params))
  if (existing.some((other) => fromMs < other.toMs && other.fromMs < toMs)) return 'exists'
  await tx.run(`create table ${name} (like audit_event including defaults)`)
  await tx.run(`alter table audit_event attach partition ${name} for values from (${fromMs}) to (${toMs})`)
  return 'created'
}

const limitLockWait = (tx: Transaction): Promise<number> => tx.run(`set local lock_timeout = ${lockTimeoutMs}`)

/** The reasons that a run continues after. A lock that was not granted may be mapped to a fault of storage. */
function outcomeOf(error: unknown): 'check' | 'locked' {
  const cause = isFault(error) ? error.cause : error
  if (cause instanceof DatabaseError && (cause.reason === 'check' || cause.reason === 'locked')) return cause.reason
  throw error
}

/**
 * Drops the partitions before a time that have no event which is still kept. Few of those are moved to the default partition, so
 * that the end of a chain which was not signed before midnight does not keep a day of all chains. Returns false if a statement that
 * runs for longer holds the lock.
 */
export async function dropPartitions(
  database: Database,
  { beforeMs, maxMoved = defaultMaxMoved }: { readonly beforeMs: number; readonly maxMoved?: number },
): Promise<boolean> {
  const query: Transaction['query'] = (sql, params) => database.read(sql, params)
  for (const { name, toMs } of await listPartitions(query)) {
    if (toMs > beforeMs || (await countKept(query, name, maxMoved + 1)) > maxMoved) continue
    const outcome = await database.transaction((tx) => dropPartition(tx, name, maxMoved)).catch(outcomeOf)
    if (outcome === 'locked') return false
  }
  return true
}

/** Spooled events of an old day may still arrive, so the events are counted again while nothing can be added. */
async function dropPartition(tx: Transaction, name: string, maxMoved: number): Promise<void> {
  await limitLockWait(tx)
  await tx.run(`lock table ${name} in share row exclusive mode`)
  const kept = await countKept((sql, params) => tx.query(sql, params), name, maxMoved + 1)
  if (kept > maxMoved) return
  if (kept > 0)
    await tx.run(
      `create temporary table kept_event on commit drop as select e.* from audit_chain h
       join ${name} e on e.organization_id = h.organization_id and e.sequence >= h.first_sequence`,
    )
  // Not detached first: a table of its own would have triggers on `organization`, and dropping them locks that table.
  await tx.run(`drop table ${name}`)
  if (kept > 0) await tx.run('insert into audit_event select * from kept_event')
}

/**
 * The start of the partition of several days that has events of this time. Undefined if it has only one day, for the default partition, and
 * for the table from before there were partitions, which has events of months.
 */
export async function startOfWidePartition(database: Database, ms: number): Promise<number | undefined> {
  const partitions = await listPartitions((sql, params) => database.read(sql, params))
  const isWide = ({ fromMs, toMs }: Partition): boolean => fromMs !== -Infinity && toMs - fromMs > dayMs
  return partitions.find((partition) => partition.fromMs <= ms && ms < partition.toMs && isWide(partition))?.fromMs
}

/** Counts up to `most`. The order makes PostgreSQL use the key for each chain instead of reading all events. */
async function countKept(query: Transaction['query'], name: string, most: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    `select count(*) as count from (
       select 1 from audit_chain h cross join lateral (
         select 1 from ${name} e where e.organization_id = h.organization_id and e.sequence >= h.first_sequence
         order by e.sequence limit ${most}) as kept
       limit ${most}) as counted`,
  )
  return row?.count ?? 0
}
