import type { Clock } from '../../../../base/clock.ts'
import type { CostFileStore } from '../../../../domain/audit/export/cost-file-store.ts'
import { longestWaitMs } from '../../../../domain/audit/export/delivery.ts'
import type { Database } from '../database.ts'
import { guardValues, isActive, leaseGuard } from './delivery.ts'

type CostFileParts = {
  readonly database: Database
  readonly clock: Pick<Clock, 'nowMs'>
  /** Identifies this process among all senders. */
  readonly owner: string
}

/** The files of sinks of costs, in SQL. */
export const costFileStore = ({ database, clock, owner }: CostFileParts): CostFileStore => ({
  async due(limit) {
    const nowMs = clock.nowMs()
    const rows = await database.read<{ sink_id: string }>(
      `select k.sink_id from export_cursor k join export_sink s on s.id = k.sink_id
       where (k.next_attempt_at <= $1 or k.next_attempt_at > $3) and k.lease_until <= $1 and ${isActive} and s.sends = 'costs'
       order by k.next_attempt_at limit $2`,
      [nowMs, limit, nowMs + longestWaitMs],
    )
    return rows.map(({ sink_id: id }) => id)
  },
  async digests(sinkId) {
    const sql = 'select day, digest from export_cost_file where sink_id = $1'
    const rows = await database.read<{ day: number; digest: string }>(sql, [sinkId])
    return new Map(rows.map(({ day, digest }) => [day, digest]))
  },
  record: (sink, { day, digest, rowCount, hasTags }) =>
    database.transaction(async (tx) => {
      const held = `update export_cursor set lease_until = lease_until ${leaseGuard}`
      if ((await tx.run(held, guardValues(sink, owner))) !== 1) return false
      await tx.run(
        `insert into export_cost_file (organization_id, sink_id, day, digest, row_count, has_tags, written_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict (sink_id, day) do update set
           digest = excluded.digest, row_count = excluded.row_count, has_tags = excluded.has_tags,
           written_at = excluded.written_at`,
        [sink.organizationId, sink.id, day, digest, rowCount, hasTags ? 1 : 0, clock.nowMs()],
      )
      return true
    }),
})
