import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { SubjectSums } from '../../../../domain/rollup/subject-sums.ts'
import type { Database } from '../database.ts'
import { readRollup } from './read.ts'

/** What was counted by subject, in SQL. */
export const subjectSums =
  (database: Pick<Database, 'report'>, clock: Clock): SubjectSums =>
  async (query) => {
    const wanted = { ...query, kind: 'policy', groupBy: ['subject'] } as const
    const groups = await readRollup((sql, params) => database.report(sql, params), wanted, toUnixSeconds(clock.nowMs()))
    return groups.map(({ startTime, group: [subject], sums: [requests = 0, denials = 0] }) => ({
      startTime,
      subject: String(subject),
      requests,
      denials,
    }))
  }
