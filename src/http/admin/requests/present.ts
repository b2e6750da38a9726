import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import type { ChainedDocument, JsonValue } from '../../../domain/audit/event/document.ts'
import { checks, decisions, type AuditDecision, type Check } from '../../../domain/audit/event/verdict.ts'
import type { LoggedEvent } from '../../../domain/audit/log.ts'
import { callerFormats, type CallerFormat } from '../../../domain/inference/formats.ts'
import { operationNames, type OperationName } from '../../../domain/inference/operations.ts'
import type { RequestObject } from './schema.ts'

const paths: Readonly<Record<CallerFormat, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

/** A request as one row, from its event in the audit log. */
export function presentRequest({ document }: LoggedEvent): Static<typeof RequestObject> {
  const row = rowOf(document, '')
  const { gatehouse } = document.unmapped
  const { policy } = document
  const status = row.status ?? 'ok'
  return {
    id: row.requestId ?? row.id,
    object: 'organization.request',
    event_id: row.id,
    sequence: row.sequence,
    created_at: toUnixSeconds(row.timeMs),
    created_at_ms: row.timeMs,
    status,
    decision: decisionIn(gatehouse['decision']),
    is_enforced: gatehouse['is_enforced'] === true,
    reason_code: row.reasonCode,
    check: decidingCheckOf(document),
    policy_id: policy?.uid ?? null,
    policy_name: policy?.name ?? null,
    categories: textsIn(gatehouse['categories_triggered']),
    model: row.model ?? '',
    upstream: row.upstream,
    operation: operationOf(document),
    dialect: dialectOf(document),
    stream: gatehouse['stream'] === true,
    project_id: row.projectId,
    api_key_id: row.actorId,
    actor_type: textIn(gatehouse['actor_type']),
    user_id: row.userId,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cost_usd: numberIn(gatehouse['cost_usd']),
    credits: numberIn(gatehouse['credits_used']),
    latency_ms: row.latencyMs,
    error: row.errorCode,
  }
}

/** Events of version 0.2 do not name the check, but other fields tell it. */
export function decidingCheckOf({
  policy,
  severity_id: severity,
  unmapped: { gatehouse },
}: ChainedDocument): Check | null {
  const { check, decision, results, categories_triggered: triggered, categories_requested: requested } = gatehouse
  const recorded = checks.find((each) => each === check)
  if (recorded !== undefined) return recorded
  if (policy === undefined || decision === undefined || decision === 'allow') return null
  const ofPolicies = Array.isArray(results) ? results : []
  if (ofPolicies.some((result) => isRecord(result) && result['policy_id'] === policy.uid)) return 'policy'
  if (severity === alwaysBlockedSeverity) return 'always_blocked'
  const asked = textsIn(requested)
  const found = textsIn(triggered)
  return found.length > 0 && found.every((category) => asked.includes(category)) ? 'requested' : 'gateway'
}

/** Only always-blocked categories have it. */
const alwaysBlockedSeverity = 4

const operationOf = ({ unmapped }: ChainedDocument): OperationName =>
  operationNames.find((name) => name === unmapped.gen_ai?.['operation.name']) ?? 'chat'

/** The path tells it, except that of the playground. */
function dialectOf({ http_request: call, unmapped }: ChainedDocument): CallerFormat | null {
  const path = call?.url.path
  const byPath = callerFormats.find((format) => paths[format] === path)
  return byPath ?? callerFormats.find((format) => format === unmapped.gatehouse['dialect']) ?? null
}

export const decisionIn = (value: JsonValue | undefined): AuditDecision =>
  decisions.find((decision) => decision === value) ?? 'not_evaluated'

export const numberIn = (value: JsonValue | undefined): number | null => (typeof value === 'number' ? value : null)

const textIn = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)

export const textsIn = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
