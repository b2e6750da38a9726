import { dayMs } from '../../../../base/clock.ts'
import type { ArchivedObject, ArchivedRange, ArchiveStore } from '../../../../domain/audit/archive/archived-object.ts'
import { archiveTargets, type ArchiveTargetKind } from '../../../../domain/audit/archive/target.ts'
import type { SignedCheckpoint } from '../../../../domain/audit/chain/checkpoint.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage } from '../page.ts'
import { checkpointOf } from './events.ts'

/** An object whose range is stored, and that is not written yet. */
export type PlannedObject = ArchivedRange & { readonly id: string; readonly name: string }

type ObjectRow = {
  id: string
  organization_id: string
  first_sequence: number
  last_sequence: number
  day: string
  name: string
  target: string
  bytes: number | null
  sha256: string | null
  written_at: number | null
}

const columns = 'id, organization_id, first_sequence, last_sequence, day, name, target, bytes, sha256, written_at'

/** The list of archived objects for the API. */
export const archiveStore = (tx: Pick<Transaction, 'query'>): ArchiveStore => ({
  list: (organizationId, page) =>
    selectPage(
      tx,
      {
        table: 'audit_archive',
        columns,
        where: { organization_id: organizationId },
        only: [['written_at is not null']],
        by: 'first_sequence',
        map: objectOf,
      },
      page,
    ),
})

/** The last event that the archive has; null if it has none. */
export async function lastArchived(tx: Pick<Transaction, 'query'>, organizationId: string): Promise<number | null> {
  const [row] = await tx.query<{ last: number | null }>(
    'select max(last_sequence) as last from audit_archive where organization_id = $1 and written_at is not null',
    [organizationId],
  )
  return row?.last ?? null
}

type Written = {
  readonly bytes: number
  readonly sha256: string
  readonly target: ArchiveTargetKind
  readonly writtenAtMs: number
}

/** The objects of the archive, for the job that writes them. */
export const archivedObjects = (database: Database) => ({
  async findPlanned(organizationId: string): Promise<PlannedObject | undefined> {
    const [row] = await database.read<ObjectRow>(
      `select ${columns} from audit_archive where organization_id = $1 and written_at is null
       order by first_sequence limit 1`,
      [organizationId],
    )
    return row && { ...rangeOf(row), id: row.id, name: row.name }
  },

  /** Removes planned objects whose events were removed meanwhile, because the archive was turned off for a time. */
  async removeUnwritable(organizationId: string): Promise<void> {
    await database.write([
      {
        sql: `delete from audit_archive where organization_id = $1 and written_at is null and first_sequence <
          (select h.first_sequence from audit_chain h where h.organization_id = $1)`,
        params: [organizationId],
      },
    ])
  },

  async isWritten(id: string): Promise<boolean> {
    const sql = 'select id from audit_archive where id = $1 and written_at is not null'
    return (await database.read(sql, [id])).length > 0
  },

  /** The event that the next object follows; undefined if there is no chain. */
  async lastPosition(organizationId: string): Promise<number | undefined> {
    const [chain] = await database.read<{ first_sequence: number }>(
      'select first_sequence from audit_chain where organization_id = $1',
      [organizationId],
    )
    if (!chain) return undefined
    const last = await lastArchived({ query: (sql, params) => database.read(sql, params) }, organizationId)
    return Math.max(chain.first_sequence - 1, last ?? 0)
  },

  /** The day of the next checkpoint, and the last checkpoint of that day up to the cut. */
  async nextDay(
    organizationId: string,
    { after, cut }: { readonly after: number; readonly cut: number },
  ): Promise<{ readonly day: string; readonly last: number } | undefined> {
    const within = 'from audit_checkpoint where organization_id = $1 and sequence > $2 and sequence <= $3'
    const [next] = await database.read<{ time: number }>(`select time ${within} order by sequence limit 1`, [
      organizationId,
      after,
      cut,
    ])
    if (!next) return undefined
    const startMs = Math.floor(next.time / dayMs) * dayMs
    const [row] = await database.read<{ last: number }>(`select max(sequence) as last ${within} and time < $4`, [
      organizationId,
      after,
      cut,
      startMs + dayMs,
    ])
    return row && { day: new Date(startMs).toISOString().slice(0, 10), last: row.last }
  },

  /** Changes nothing if another node was faster. */
  async insert(
    { id, organizationId, first, last, day, name }: PlannedObject,
    target: ArchiveTargetKind,
  ): Promise<void> {
    await database.write([
      {
        sql: `insert into audit_archive (id, organization_id, first_sequence, last_sequence, day, name, target)
          values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        params: [id, organizationId, first, last, day, name, target],
      },
    ])
  },

  async markWritten(id: string, { bytes, sha256, target, writtenAtMs }: Written): Promise<void> {
    await database.write([
      {
        sql: `update audit_archive set bytes = $2, sha256 = $3, target = $4, written_at = $5
          where id = $1 and written_at is null`,
        params: [id, bytes, sha256, target, writtenAtMs],
      },
    ])
  },

  async previousSha256({ organizationId, first }: ArchivedRange): Promise<string | null> {
    const [row] = await database.read<{ sha256: string | null }>(
      `select sha256 from audit_archive where organization_id = $1 and first_sequence < $2 and written_at is not null
       order by first_sequence desc limit 1`,
      [organizationId, first],
    )
    return row?.sha256 ?? null
  },

  /** The checkpoint of the last event, and those with a handover. */
  async checkpointsOf({ organizationId, first, last }: ArchivedRange): Promise<readonly SignedCheckpoint[]> {
    const rows = await database.read<{ checkpoint: string }>(
      `select checkpoint from audit_checkpoint where organization_id = $1 and sequence >= $2 and sequence <= $3
       and (sequence = $3 or checkpoint like '%"handover":%') order by sequence`,
      [organizationId, first, last],
    )
    return rows.map(({ checkpoint }) => checkpointOf(checkpoint))
  },
})

const rangeOf = (row: ObjectRow): ArchivedRange => ({
  organizationId: row.organization_id,
  first: row.first_sequence,
  last: row.last_sequence,
  day: row.day,
})

const objectOf = (row: ObjectRow): ArchivedObject => ({
  ...rangeOf(row),
  id: row.id,
  name: row.name,
  target: archiveTargets.find((kind) => kind === row.target) ?? 'folder',
  bytes: row.bytes ?? 0,
  sha256: row.sha256 ?? '',
  writtenAtMs: row.written_at ?? 0,
})
