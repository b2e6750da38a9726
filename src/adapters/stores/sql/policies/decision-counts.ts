import type {
  CallerCount,
  DecisionCounts,
  DecisionHours,
  DecisionSums,
  HourCount,
  MinuteCount,
} from '../../../../domain/evaluation/spikes/decision-counts.ts'
import { dayMinutes, hourMinutes, windowMinutes } from '../../../../domain/evaluation/spikes/spike.ts'
import type { Database, Statement, Transaction } from '../database.ts'

const addOne = `insert into decision_count (organization_id, subject, minute, version, requests, denials)
  values ($1, $2, $3, $4, $5, $6) on conflict (organization_id, subject, minute, version) do update
  set requests = decision_count.requests + excluded.requests, denials = decision_count.denials + excluded.denials`

const addToHour = `insert into decision_hour
    (organization_id, subject, hour, version, requests, denials, recorded_requests, recorded_denials)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (organization_id, subject, hour, version) do update
  set requests = decision_hour.requests + excluded.requests, denials = decision_hour.denials + excluded.denials,
    recorded_requests = decision_hour.recorded_requests + excluded.recorded_requests,
    recorded_denials = decision_hour.recorded_denials + excluded.recorded_denials`

const addCaller = `insert into decision_caller
    (organization_id, subject, version, key_id, user_digest, active_minute, denied_minute)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (organization_id, subject, version, key_id, user_digest) do update
  set active_minute = ${laterOf('active_minute')}, denied_minute = ${laterOf('denied_minute')}`

function laterOf(column: string): string {
  const [stored, added] = [`decision_caller.${column}`, `excluded.${column}`]
  return `case when ${stored} > ${added} then ${stored} else ${added} end`
}

/** Decision counts of all nodes, in SQL. */
export function decisionCounts(database: Database): DecisionCounts {
  return {
    async add({ minutes, callers }) {
      // Sorted, so that two nodes cannot deadlock on each other's rows.
      const statements = [...minutes.flatMap(additions), ...callers.map(callerAddition)].sort((a, b) =>
        keyOf(a) < keyOf(b) ? -1 : 1,
      )
      await database.write(statements, { waitsForDisk: false })
    },
    async removeBefore(minute) {
      await database.write([
        { sql: 'delete from decision_count where minute < $1', params: [minute] },
        { sql: 'delete from denial_spike where last_minute < $1', params: [minute] },
      ])
    },
    async removeCallersBefore(minute) {
      await database.write([{ sql: 'delete from decision_caller where active_minute < $1', params: [minute] }])
    },
    async removeHoursBefore(hour) {
      await database.write([{ sql: 'delete from decision_hour where hour < $1', params: [hour] }])
    },
    async extendSpike({ organizationId, subject, version }, minute) {
      const sql = `update denial_spike set last_minute = $4
        where organization_id = $1 and subject = $2 and version = $3 and last_minute < $4`
      await database.write([{ sql, params: [organizationId, subject, version, minute] }], { waitsForDisk: false })
    },
  }
}

/** Minutes are for the spike monitor, which watches what is enforced. */
function additions(count: MinuteCount): Statement[] {
  const { organizationId, subject, minute, version, requests, denials, recordedRequests, recordedDenials } = count
  const hour = Math.floor(minute / hourMinutes)
  const ofHour = [organizationId, subject, hour, version, requests, denials, recordedRequests, recordedDenials]
  return [
    ...(requests === 0 ? [] : [{ sql: addOne, params: [organizationId, subject, minute, version, requests, denials] }]),
    { sql: addToHour, params: ofHour },
  ]
}

function callerAddition(count: CallerCount): Statement {
  const { organizationId, subject, version, keyId, userDigest, activeMinute, deniedMinute } = count
  return { sql: addCaller, params: [organizationId, subject, version, keyId, userDigest, activeMinute, deniedMinute] }
}

const keyOf = ({ sql, params = [] }: Statement): string => [sql, ...params.slice(0, 5)].join(' ')

type SumsRow = { requests: number; denials: number; earlier_requests: number; earlier_denials: number }

/** The minute before the window. Counts up to and including the minute of a resumption are ignored. */
const startOfWindow = `with start as (
    select case when max(resumed_at) / 60000 > cast($4 as bigint)
      then max(resumed_at) / 60000 else cast($4 as bigint) end as minute
    from policy where organization_id = $1 and id = $2)`

const selectSums = `${startOfWindow}
  select ${sumOf('requests', 'c.minute > s.minute and c.version = $3')} as requests,
    ${sumOf('denials', 'c.minute > s.minute and c.version = $3')} as denials,
    ${sumOf('requests', 'c.minute <= s.minute')} as earlier_requests,
    ${sumOf('denials', 'c.minute <= s.minute')} as earlier_denials
  from start s left join decision_count c
    on c.organization_id = $1 and c.subject = $2 and c.minute > s.minute - ${dayMinutes}`

const selectCallers = `${startOfWindow}
  select count(*) as callers, count(distinct c.key_id) as keys,
    count(case when c.denied_minute > s.minute then 1 end) as denied_callers,
    count(distinct case when c.denied_minute > s.minute then c.key_id end) as denied_keys
  from start s join decision_caller c
    on c.organization_id = $1 and c.subject = $2 and c.version = $3 and c.active_minute > s.minute`

type CallersRow = { callers: number; denied_callers: number; keys: number; denied_keys: number }

function sumOf(column: string, condition: string): string {
  return `cast(coalesce(sum(case when ${condition} then c.${column} else 0 end), 0) as bigint)`
}

/** Sums over all nodes. */
export const decisionSums = (tx: Pick<Transaction, 'query'>): DecisionSums => ({
  async sums({ organizationId, subject, version }, minute) {
    const params = [organizationId, subject, version, minute - windowMinutes]
    const [row] = await tx.query<SumsRow>(selectSums, params)
    const [distinct] = await tx.query<CallersRow>(selectCallers, params)
    return {
      callers: { active: distinct?.callers ?? 0, denied: distinct?.denied_callers ?? 0 },
      keys: { active: distinct?.keys ?? 0, denied: distinct?.denied_keys ?? 0 },
      window: { requests: row?.requests ?? 0, denials: row?.denials ?? 0 },
      dayBefore: { requests: row?.earlier_requests ?? 0, denials: row?.earlier_denials ?? 0 },
    }
  },
})

type HourRow = {
  subject: string
  hour: number
  version: number
  requests: number
  denials: number
  recorded_requests: number
  recorded_denials: number
}

/** Reads the rows of each subject from the primary key. */
export const decisionHours = (tx: Pick<Transaction, 'query'>): DecisionHours => ({
  async hours(organizationId, subjects, fromHour) {
    if (subjects.length === 0) return []
    const rows = await tx.query<HourRow>(
      `select subject, hour, version, requests, denials, recorded_requests, recorded_denials from decision_hour
       where organization_id = $1 and hour >= $2 and subject in (${subjects.map((_, at) => `$${at + 3}`).join(', ')})
       order by subject, hour, version`,
      [organizationId, fromHour, ...subjects],
    )
    return rows.map(hourOf)
  },
})

const hourOf = ({
  recorded_requests: recordedRequests,
  recorded_denials: recordedDenials,
  ...row
}: HourRow): HourCount => ({
  ...row,
  recordedRequests,
  recordedDenials,
})
