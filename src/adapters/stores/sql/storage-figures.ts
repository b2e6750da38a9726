import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dayMs, toUnixSeconds } from '../../../base/clock.ts'
import { timeOfId } from '../../../base/ids.ts'
import { day, hour, startOf } from '../../../domain/rollup/kinds.ts'
import type { StoredCounts } from '../../../domain/system/storage-status.ts'
import type { Database } from './database.ts'
import { databaseFileName } from './sqlite/data-folder.ts'

/** Null where a table has no rows. */
export type OldestRows = { readonly eventAtMs: number | null; readonly deltaAtMs: number | null }

/** Bytes on the disk: of the file and its write-ahead log, or what PostgreSQL reports. A report, because PostgreSQL visits every file. */
export async function databaseBytes(database: Pick<Database, 'engine' | 'report'>, dataDir: string): Promise<number> {
  if (database.engine === 'postgres') {
    const [row] = await database.report<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
    return row?.bytes ?? 0
  }
  const sizes = await Promise.all(['', '-wal'].map((suffix) => fileBytes(join(dataDir, databaseFileName + suffix))))
  return sizes.reduce((sum, bytes) => sum + bytes)
}

/** A write-ahead log exists only while the database is open. */
const fileBytes = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** The time of a delta is in its id: the ten digits before the 16 random ones. */
const oldestSql = `select
  (select min(first_time) from (
    select (select e.time from audit_event e
      where e.organization_id = h.organization_id and e.sequence >= h.first_sequence order by e.sequence limit 1) as first_time
    from audit_chain h) as chains) as event_time,
  (select min(substr(id, length(id) - 25, 10)) from rollup_delta) as delta_digits`

/** When the oldest audit event and the oldest delta that is not folded were written. */
export async function oldestRows(database: Pick<Database, 'report'>): Promise<OldestRows> {
  const [row] = await database.report<{ event_time: number | null; delta_digits: string | null }>(oldestSql)
  const digits = row?.delta_digits ?? null
  return { eventAtMs: row?.event_time ?? null, deltaAtMs: digits === null ? null : timeOfId(digits) }
}

const weekMs = 7 * dayMs

/** The last week by hours, which are kept for 92 days; a week that may be longer ago by days. */
const countSql = `select
  (select cast(coalesce(sum(sequence - first_sequence + 1), 0) as bigint) from audit_chain) as events,
  (select cast(coalesce(sum(sequence), 0) as bigint) from audit_chain) as events_ever,
  (${requestsSince(hour, '$1')}) as requests_last_week,
  (${requestsSince(day, '$2')} and r.start_time < $3) as requests_expiring`

function requestsSince(step: number, start: string): string {
  return `select cast(coalesce(sum(r.requests), 0) as bigint) from organization o join rollup r on r.organization_id = o.id
    and r.kind = 'traffic' and r.step = ${step} and r.subject = '' and r.start_time >= ${start}`
}

type CountRow = { events: number; events_ever: number; requests_last_week: number; requests_expiring: number }

/** What the growth of the database is computed from. Requests that are not folded into the sums yet are missing. */
export async function countStored(
  database: Pick<Database, 'report'>,
  { nowMs, retentionMs }: { readonly nowMs: number; readonly retentionMs: number },
): Promise<StoredCounts> {
  const startOfWeek = toUnixSeconds(nowMs - weekMs)
  const expiresFrom = startOf(toUnixSeconds(Math.max(0, nowMs - retentionMs)), day)
  const params = [startOfWeek, expiresFrom, expiresFrom + weekMs / 1000]
  const [row] = await database.report<CountRow>(countSql, params)
  return {
    events: row?.events ?? 0,
    eventsEver: row?.events_ever ?? 0,
    requestsLastWeek: row?.requests_last_week ?? 0,
    requestsExpiring: row?.requests_expiring ?? 0,
  }
}
