import type { DecisionCounts, DecisionSums, MinuteCount } from '../../../../domain/evaluation/spikes/decision-counts.ts'
import { dayMinutes, windowMinutes } from '../../../../domain/evaluation/spikes/spike.ts'
import type { Database, Statement, Transaction } from '../database.ts'

const addOne = `insert into decision_count (organization_id, subject, minute, version, requests, denials)
  values ($1, $2, $3, $4, $5, $6) on conflict (organization_id, subject, minute, version) do update
  set requests = decision_count.requests + excluded.requests, denials = decision_count.denials + excluded.denials`

/** Decision counts of all nodes, in SQL. */
export function decisionCounts(database: Database): DecisionCounts {
  return {
    async add(counts) {
      // Sorted, so that two nodes cannot deadlock on each other's rows.
      const statements = counts.map(addition).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      await database.write(statements, { waitsForDisk: false })
    },
    async removeBefore(minute) {
      await database.write([{ sql: 'delete from decision_count where minute < $1', params: [minute] }])
    },
  }
}

const addition = ({ organizationId, subject, minute, version, requests, denials }: MinuteCount): Statement => ({
  sql: addOne,
  params: [organizationId, subject, minute, version, requests, denials],
})

const keyOf = ({ params = [] }: Statement): string => params.slice(0, 4).join(' ')

type SumsRow = { requests: number; denials: number; earlier_requests: number; earlier_denials: number }

/** Counts up to and including the minute of a resumption are ignored. */
const selectSums = `with start as (
    select case when max(resumed_at) / 60000 > cast($4 as bigint)
      then max(resumed_at) / 60000 else cast($4 as bigint) end as minute
    from policy where organization_id = $1 and id = $2)
  select ${sumOf('requests', 'c.minute > s.minute and c.version = $3')} as requests,
    ${sumOf('denials', 'c.minute > s.minute and c.version = $3')} as denials,
    ${sumOf('requests', 'c.minute <= s.minute')} as earlier_requests,
    ${sumOf('denials', 'c.minute <= s.minute')} as earlier_denials
  from start s left join decision_count c
    on c.organization_id = $1 and c.subject = $2 and c.minute > s.minute - ${dayMinutes}`

function sumOf(column: string, condition: string): string {
  return `cast(coalesce(sum(case when ${condition} then c.${column} else 0 end), 0) as bigint)`
}

/** Sums over all nodes. */
export const decisionSums = (tx: Pick<Transaction, 'query'>): DecisionSums => ({
  async sums({ organizationId, subject, version }, minute) {
    const params = [organizationId, subject, version, minute - windowMinutes]
    const [row] = await tx.query<SumsRow>(selectSums, params)
    return {
      window: { requests: row?.requests ?? 0, denials: row?.denials ?? 0 },
      dayBefore: { requests: row?.earlier_requests ?? 0, denials: row?.earlier_denials ?? 0 },
    }
  },
})
