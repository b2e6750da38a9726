import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import type { ChainedDocument, JsonValue } from '../../../domain/audit/event/document.ts'
import type { LoggedEvent } from '../../../domain/audit/log.ts'
import { decidingCheckOf, decisionIn, numberIn, textsIn } from '../../../domain/explanation/recorded-outcomes.ts'
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

const operationOf = ({ unmapped }: ChainedDocument): OperationName =>
  operationNames.find((name) => name === unmapped.gen_ai?.['operation.name']) ?? 'chat'

/** The path tells it, except that of the playground. */
function dialectOf({ http_request: call, unmapped }: ChainedDocument): CallerFormat | null {
  const path = call?.url.path
  const byPath = callerFormats.find((format) => paths[format] === path)
  return byPath ?? callerFormats.find((format) => format === unmapped.gatehouse['dialect']) ?? null
}

const textIn = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)
