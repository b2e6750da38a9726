import type { ReportedSpike, ReportedSpikes } from '../../../../domain/evaluation/spikes/decision-counts.ts'
import { windowMinutes } from '../../../../domain/evaluation/spikes/spike.ts'
import type { Transaction } from '../database.ts'

type SpikeRow = { subject: string; version: number; first_minute: number; last_minute: number }

const columns = 'subject, version, first_minute, last_minute'

/** A spike that ended a window ago is replaced by the new one. Of two nodes at the same time, one changes a row. */
const insertSpike = `insert into denial_spike (organization_id, subject, version, first_minute, last_minute)
  values ($1, $2, $3, $4, $4) on conflict (organization_id, subject, version) do update
  set first_minute = excluded.first_minute, last_minute = excluded.last_minute
  where denial_spike.last_minute < excluded.last_minute - ${windowMinutes}`

/** Reported spikes in SQL, in the given transaction. */
export const reportedSpikes = (tx: Transaction): ReportedSpikes => ({
  async recent(organizationId, sinceMinute) {
    const sql = `select ${columns} from denial_spike where organization_id = $1 and last_minute >= $2
      order by last_minute desc, subject, version limit 20`
    return (await tx.query<SpikeRow>(sql, [organizationId, sinceMinute])).map(spikeOfRow)
  },
  async findSpike({ organizationId, subject, version }) {
    const sql = `select ${columns} from denial_spike where organization_id = $1 and subject = $2 and version = $3`
    const [row] = await tx.query<SpikeRow>(sql, [organizationId, subject, version])
    return row && spikeOfRow(row)
  },
  report: async ({ organizationId, subject, version }, minute) =>
    (await tx.run(insertSpike, [organizationId, subject, version, minute])) === 1,
})

const spikeOfRow = ({ subject, version, ...row }: SpikeRow): ReportedSpike => ({
  subject,
  version,
  firstMinute: row.first_minute,
  lastMinute: row.last_minute,
})
