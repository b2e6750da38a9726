import type {
  CallerCount,
  DecisionCounts,
  DecisionHours,
  DecisionSums,
  HourCount,
  RolloutArms,
} from '../../../../domain/evaluation/spikes/decision-counts.ts'
import { armMinutes } from '../../../../domain/evaluation/spikes/arms.ts'
import {
  dayMinutes,
  hourMinutes,
  minuteOf,
  windowMinutes,
  type DenialCount,
} from '../../../../domain/evaluation/spikes/spike.ts'
import { lastSecond, toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { Ids } from '../../../../base/ids.ts'
import { entryOfDecisions } from '../../../../domain/rollup/entry.ts'
import type { RollupGroup, RollupQuery } from '../../../../domain/rollup/report.ts'
import type { Database, Statement, Transaction } from '../database.ts'
import { deltaInsertions } from '../rollup/deltas.ts'
import { readRollup } from '../rollup/read.ts'

const addCaller = `insert into decision_caller
    (organization_id, subject, version, key_id, user_digest, active_minute, denied_minute, observed_minute, matched_minute)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (organization_id, subject, version, key_id, user_digest) do update
  set active_minute = ${laterOf('active_minute')}, denied_minute = ${laterOf('denied_minute')},
    observed_minute = ${laterOf('observed_minute')}, matched_minute = ${laterOf('matched_minute')}`

function laterOf(column: string): string {
  const [stored, added] = [`decision_caller.${column}`, `excluded.${column}`]
  return `case when ${stored} > ${added} then ${stored} else ${added} end`
}

/** Decision counts of all nodes, in SQL. */
export function decisionCounts(database: Database, ids: Ids): DecisionCounts {
  return {
    async add({ minutes, callers }) {
      const deltas = minutes.map((count) => ({
        organizationId: count.organizationId,
        id: ids('dec'),
        entry: entryOfDecisions(count),
      }))
      // Sorted, so that two nodes cannot deadlock on each other's rows.
      const additions = callers.map(callerAddition).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      await database.write([...deltaInsertions(deltas), ...additions], { waitsForDisk: false })
    },
    async removeSpikesBefore(minute) {
      await database.write([{ sql: 'delete from denial_spike where last_minute < $1', params: [minute] }])
    },
    async removeCallersBefore(minute) {
      await database.write([
        { sql: 'delete from decision_caller where active_minute < $1 and observed_minute < $1', params: [minute] },
      ])
    },
    async extendSpike({ organizationId, subject, version }, minute) {
      const sql = `update denial_spike set last_minute = $4
        where organization_id = $1 and subject = $2 and version = $3 and last_minute < $4`
      await database.write([{ sql, params: [organizationId, subject, version, minute] }], { waitsForDisk: false })
    },
  }
}

function callerAddition(count: CallerCount): Statement {
  const { organizationId, subject, version, keyId, userDigest } = count
  const minutes = [count.activeMinute, count.deniedMinute, count.observedMinute, count.matchedMinute]
  return { sql: addCaller, params: [organizationId, subject, version, keyId, userDigest, ...minutes] }
}

const keyOf = ({ params = [] }: Statement): string => params.slice(0, 5).join(' ')

/** Counts up to and including the minute of a resumption are ignored. */
const selectResumption = 'select max(resumed_at) as resumed_at from policy where organization_id = $1 and id = $2'

const selectCallers = `select count(*) as callers, count(distinct key_id) as keys,
    count(case when denied_minute > $4 then 1 end) as denied_callers,
    count(distinct case when denied_minute > $4 then key_id end) as denied_keys
  from decision_caller where organization_id = $1 and subject = $2 and version = $3 and active_minute > $4`

type CallersRow = { callers: number; denied_callers: number; keys: number; denied_keys: number }

/** Sums over all nodes. */
export const decisionSums = ({ query }: Pick<Transaction, 'query'>): DecisionSums => ({
  async sums({ organizationId, subject, version }, minute) {
    const [policy] = await query<{ resumed_at: number | null }>(selectResumption, [organizationId, subject])
    /** The minute before the window. */
    const before = Math.max(minuteOf(policy?.resumed_at ?? 0), minute - windowMinutes)
    const [callers] = await query<CallersRow>(selectCallers, [organizationId, subject, version, before])
    const countsOf = (fromMinute: number, endMinute: number) =>
      readRollup(query, decisionQuery(organizationId, [subject], [fromMinute, endMinute]), minute * minuteSeconds)
    const window = await countsOf(before + 1, Math.max(minute, before) + dayMinutes)
    const dayBefore = await countsOf(before - dayMinutes + 1, before + 1)
    return {
      callers: { active: callers?.callers ?? 0, denied: callers?.denied_callers ?? 0 },
      keys: { active: callers?.keys ?? 0, denied: callers?.denied_keys ?? 0 },
      window: denialCount(window.filter(({ group }) => group[1] === version)),
      dayBefore: denialCount(dayBefore),
    }
  },
})

/** One caller is on one side, unless the percent was changed. */
const selectArms = `select count(case when active_minute > $4 then 1 end) as enforced,
    count(case when denied_minute > $4 then 1 end) as denied,
    count(case when observed_minute > $4 then 1 end) as observed,
    count(case when matched_minute > $4 then 1 end) as matched
  from decision_caller where organization_id = $1 and subject = $2 and version = $3`

type ArmsRow = { enforced: number; denied: number; observed: number; matched: number }

/** Both sides of the rollout of a policy, over all nodes. */
export const rolloutArms = ({ query }: Pick<Transaction, 'query'>): RolloutArms => ({
  async arms({ organizationId, subject, version }, minute) {
    const before = minute - armMinutes
    const [callers] = await query<ArmsRow>(selectArms, [organizationId, subject, version, before])
    const period = decisionQuery(organizationId, [subject], [before + 1, minute + 1])
    const counts = (await readRollup(query, period, minute * minuteSeconds)).filter(({ group }) => group[1] === version)
    const total = (at: number): number => counts.reduce((sum, { sums }) => sum + (sums[at] ?? 0), 0)
    const { enforced = 0, denied = 0, observed = 0, matched = 0 } = callers ?? {}
    return [
      { side: 'enforced', callers: enforced, matchedCallers: denied, requests: total(0), matches: total(1) },
      { side: 'observed', callers: observed, matchedCallers: matched, requests: total(2), matches: total(3) },
    ]
  },
})

const minuteSeconds = 60
const hourSeconds = 3_600

const decisionQuery = (
  organizationId: string,
  subjects: readonly string[],
  [fromMinute, endMinute]: readonly [number, number],
): RollupQuery => ({
  organizationId,
  kind: 'policy',
  subjects,
  groupBy: ['subject', 'version'],
  from: fromMinute * minuteSeconds,
  to: endMinute * minuteSeconds,
  bucket: hourSeconds,
})

function denialCount(groups: readonly RollupGroup[]): DenialCount {
  const total = (at: number): number => groups.reduce((sum, { sums }) => sum + (sums[at] ?? 0), 0)
  return { requests: total(0), denials: total(1) }
}

/** Counts by the hour, in order. */
export const decisionHours = ({ query }: Pick<Transaction, 'query'>, clock: Clock): DecisionHours => ({
  async hours(organizationId, subjects, fromHour) {
    const nowSeconds = toUnixSeconds(clock.nowMs())
    const minutes = [fromHour * hourMinutes, Math.floor(lastSecond / minuteSeconds)] as const
    const groups = await readRollup(query, decisionQuery(organizationId, subjects, minutes), nowSeconds)
    return groups.map(hourOf).sort(bySubject)
  },
})

function hourOf({ startTime, group: [subject, version], sums }: RollupGroup): HourCount {
  const [requests = 0, denials = 0, recordedRequests = 0, recordedDenials = 0] = sums
  const counts = { requests, denials, recordedRequests, recordedDenials }
  return { subject: String(subject), hour: startTime / hourSeconds, version: Number(version), ...counts }
}

const bySubject = (a: HourCount, b: HourCount): number => (a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0)
