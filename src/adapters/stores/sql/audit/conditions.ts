import { dayMs } from '../../../../base/clock.ts'
import type { AuditFilter } from '../../../../domain/audit/log.ts'
import { plainRequest } from './rows.ts'
import type { WalkLimits } from './walk.ts'

/** The columns of `audit_event e` that must equal a value. */
export function equalities({
  code,
  decision,
  projectId,
  policyId,
  userId,
  requestId,
  actorId,
  resourceId,
}: AuditFilter): Record<string, string> {
  const all = {
    'e.code': code,
    'e.decision': decision,
    'e.project_id': projectId,
    'e.policy_id': policyId,
    'e.user_id': userId,
    'e.request_id': requestId,
    'e.actor_id': actorId,
    'e.resource_id': resourceId,
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

export type EventTable = {
  /** By time, as on PostgreSQL. */
  readonly isPartitioned: boolean
  /** How much of the log a filter without an index reads for one page. */
  readonly walk?: WalkLimits
}

/** An order that no index has. */
export const unindexedSequence = 'e.sequence + 0'

/**
 * The order of a list. PostgreSQL expects a few events of a request in each partition, so it would search them in the order of the
 * log instead of in the index by request.
 */
export const orderOf = ({ requestId }: AuditFilter, { isPartitioned }: EventTable): string =>
  isPartitioned && requestId !== undefined ? unindexedSequence : 'e.sequence'

/** Rows of expired events stay until their partition is dropped. `$1` is the organization. */
const isInChain = 'e.sequence >= (select h.first_sequence from audit_chain h where h.organization_id = $1)'

/** Times, and the exact conditions of the partial indexes: an engine uses a partial index only if the query repeats its condition. */
export function otherConditions(filter: AuditFilter, table: EventTable): string {
  const { family, code, decision, withoutRequests, withoutCheckpoints } = filter
  const isNoRequest = withoutRequests === true || (code !== undefined && code !== plainRequest)
  const conditions = [
    ...(table.isPartitioned ? [isInChain] : []),
    ...timeConditions(filter, table),
    ...(family === undefined ? [] : [`e.code >= '${family}.' and e.code < '${family}/'`]),
    ...(isNoRequest ? [`e.code <> '${plainRequest}'`] : []),
    ...(withoutCheckpoints === true ? ["e.code <> 'audit.checkpoint'"] : []),
    ...(decision === undefined || decision === 'allow' ? [] : ["e.decision <> 'allow'"]),
  ]
  return conditions.join(' and ') || '1 = 1'
}

/**
 * Sequences and times grow nearly together. With times alone, SQLite reads and sorts all events of the period for one page. With a range of
 * sequences as well, it reads only the page. `$1` is the organization. PostgreSQL reads the partitions of the period only, in the
 * order of the log.
 */
function timeConditions({ fromMs, toMs }: AuditFilter, { isPartitioned }: EventTable): string[] {
  const conditions = [
    ...(fromMs === undefined ? [] : [`e.time >= ${Math.trunc(fromMs)}`]),
    ...(toMs === undefined ? [] : [`e.time < ${Math.trunc(toMs)}`]),
  ]
  if (isPartitioned) return conditions
  return [
    ...conditions,
    ...(fromMs === undefined ? [] : [`e.sequence > ${lastSignedBefore(fromMs - maxLateMs)}`]),
    ...(toMs === undefined ? [] : [`e.sequence <= ${firstSignedFrom(toMs + maxLateMs)}`]),
  ]
}

/** An event is appended within a day after its time, and a clock is set back by less than a day. */
const maxLateMs = dayMs

/**
 * Everything up to the sequence of a checkpoint was appended before the checkpoint was signed. The next one by time is one entry of an
 * index. The highest sequence would need all checkpoints, of which there is one each minute.
 */
const lastSignedBefore = (ms: number): string =>
  `coalesce((select p.sequence from audit_checkpoint p
   where p.organization_id = $1 and p.time < ${Math.trunc(ms)} order by p.time desc limit 1), 0)`

const firstSignedFrom = (ms: number): string =>
  `coalesce((select p.sequence from audit_checkpoint p
   where p.organization_id = $1 and p.time >= ${Math.trunc(ms)} order by p.time limit 1), ${Number.MAX_SAFE_INTEGER})`
