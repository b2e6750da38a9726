import { canonicalize } from '../../../../domain/audit/event/canonical.ts'
import type { ChainHead } from '../../../../domain/audit/chain/chain.ts'
import type { AuditContent } from '../../../../domain/audit/event/content.ts'
import { DamagedEvent, type LoggedEvent, type StoredEvent } from '../../../../domain/audit/log.ts'
import { readChained, type ChainedEvent, type RequestStatus } from '../../../../domain/audit/chain/chained-event.ts'
import { createBulkInsert } from '../bulk-insert.ts'
import type { Statement, Value } from '../database.ts'

const columns = [
  'organization_id',
  'sequence',
  'id',
  'chain_uid',
  'time',
  'code',
  'decision',
  'request_id',
  'project_id',
  'policy_id',
  'user_id',
  'actor_id',
  'resource_id',
  'model',
  'upstream',
  'status',
  'reason_code',
  'error_code',
  'categories',
  'latency_ms',
  'first_byte_ms',
  'input_tokens',
  'output_tokens',
  'cost_micro_usd',
  'fingerprint',
  'body',
] as const

/** An event has its body in one of the two tables, so a row with both is not valid JSON. */
const ownColumns = columns
  .map((column) => (column === 'body' ? `e.body || coalesce(b.body, '') as body` : `e.${column}`))
  .join(', ')

/** The code of most events. */
export const plainRequest = 'gateway.request.decided'

/** The columns of an event and its texts, if they are still stored. */
export const eventColumns = `${ownColumns}, c.content`
/** The same without texts of requests, which can be a hundred times as large as the events of a page. */
export const listColumns = `${ownColumns}, case when e.code = '${plainRequest}' then null else c.content end as content`
export const eventTables = `audit_event e
  left join audit_content c on c.organization_id = e.organization_id and c.sequence = e.sequence
  left join audit_body b on b.organization_id = e.organization_id and b.sequence = e.sequence`

export type EventRow = {
  organization_id: string
  sequence: number
  id: string
  chain_uid: string
  time: number
  code: string
  decision: string | null
  request_id: string | null
  project_id: string | null
  policy_id: string | null
  user_id: string | null
  actor_id: string | null
  resource_id: string | null
  model: string | null
  upstream: string | null
  status: RequestStatus | null
  reason_code: string | null
  error_code: string | null
  categories: string | null
  latency_ms: number | null
  first_byte_ms: number | null
  input_tokens: number | null
  output_tokens: number | null
  cost_micro_usd: number | null
  fingerprint: string
  /** Empty if it is in a block. */
  body: string
  content: string | null
}

const valuesOf = (row: ChainedEvent): Value[] => [
  row.organizationId,
  row.sequence,
  row.id,
  row.chainUid,
  row.timeMs,
  row.code,
  row.decision,
  row.requestId,
  row.projectId,
  row.policyId,
  row.userId,
  row.actorId,
  row.resourceId,
  row.model,
  row.upstream,
  row.status,
  row.reasonCode,
  row.errorCode,
  row.categories,
  row.latencyMs,
  row.firstByteMs,
  row.inputTokens,
  row.outputTokens,
  row.costMicroUsd,
  row.fingerprint,
  row.body,
]

const insert = createBulkInsert({ table: 'audit_event', columns })

const insertBodies = createBulkInsert({ table: 'audit_body', columns: ['organization_id', 'sequence', 'body'] })

/** The statements that insert rows. Their bodies can be packed later if they are staged in a table of their own. */
export function insertionsOf(rows: readonly ChainedEvent[], { staged = false } = {}): Statement[] {
  if (!staged) return insert(rows.map(valuesOf))
  const bodies = rows.map(({ organizationId, sequence, body }) => [organizationId, sequence, body])
  return [...insert(rows.map((row) => valuesOf({ ...row, body: '' }))), ...insertBodies(bodies)]
}

export const contentInsertion = ({ organizationId, sequence }: ChainedEvent, content: AuditContent): Statement => ({
  sql: 'insert into audit_content (organization_id, sequence, content) values ($1, $2, $3)',
  params: [organizationId, sequence, canonicalize(content)],
})

/** Moves the head of a chain if it still equals `from`. */
export const headUpdate = (organizationId: string, from: ChainHead, to: ChainHead): Statement => ({
  sql: `update audit_chain set sequence = $2, fingerprint = $3, event_id = $4, type_uid = $5
    where organization_id = $1 and sequence = $6 and fingerprint = $7`,
  params: [organizationId, to.sequence, to.fingerprint, to.eventUid, to.typeUid, from.sequence, from.fingerprint],
  expect: 1,
})

export const storedOf = (row: EventRow): StoredEvent => ({
  organizationId: row.organization_id,
  chainUid: row.chain_uid,
  sequence: row.sequence,
  id: row.id,
  timeMs: row.time,
  code: row.code,
  decision: row.decision,
  requestId: row.request_id,
  projectId: row.project_id,
  policyId: row.policy_id,
  userId: row.user_id,
  actorId: row.actor_id,
  resourceId: row.resource_id,
  model: row.model,
  upstream: row.upstream,
  status: row.status,
  reasonCode: row.reason_code,
  errorCode: row.error_code,
  categories: row.categories,
  latencyMs: row.latency_ms,
  firstByteMs: row.first_byte_ms,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  costMicroUsd: row.cost_micro_usd,
  fingerprint: row.fingerprint,
  body: row.body,
  content: row.content,
})

/** The events before the first damaged one; throws if that is the first row. */
export function loggedBeforeDamage(rows: readonly EventRow[]): LoggedEvent[] {
  const logged: LoggedEvent[] = []
  for (const row of rows) {
    try {
      logged.push(loggedOf(row))
    } catch (error) {
      if (logged.length === 0) throw error
      break
    }
  }
  return logged
}

export function loggedOf({ id, sequence, body, content }: EventRow): LoggedEvent {
  const document = readChained(body)
  if (!document) throw new DamagedEvent(sequence)
  return {
    id,
    sequence,
    document,
    size: body.length,
    contentSize: content?.length ?? 0,
    ...(content !== null && { content: contentOf(content, sequence) }),
  }
}

function contentOf(json: string, sequence: number): AuditContent {
  try {
    return JSON.parse(json) as AuditContent
  } catch {
    throw new DamagedEvent(sequence)
  }
}
