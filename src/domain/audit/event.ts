import type { AuditContent } from './content.ts'
import type { Actor, AuditDocument, ManagedEntity, Resource } from './document.ts'
import type { ActorFacts, CallFacts, ChangeFacts, EventFacts, ModelFacts } from './facts.ts'
import { classOf } from './kinds.ts'
import { actionOf, isDenial, severityOf, verdictWords, type VerdictFacts } from './verdict.ts'

/** An event before it has its place in the chain. */
export type AuditEvent = { readonly document: AuditDocument; readonly content?: AuditContent | undefined }

export type EventParts = {
  /** Made once, when the event is written. */
  readonly id: string
  readonly loggedMs: number
  readonly productVersion: string
}

const ocsfVersion = '1.9.0'
const product = 'Gatehouse'
const maxTextLength = 1024
const maxListLength = 100

/** The canonical document of what happened; texts of prompts and answers stay outside of it. */
export function createEvent(facts: EventFacts, parts: EventParts): AuditEvent {
  const { classUid, activityId } = classOf(facts.code)
  const document = bounded({
    metadata: metadataOf(facts, parts),
    time: facts.timeMs,
    category_uid: Math.floor(classUid / 1000),
    class_uid: classUid,
    activity_id: activityId,
    type_uid: classUid * 100 + activityId,
    severity_id: severity(facts),
    status_id: facts.failure ? 2 : 1,
    status_code: facts.failure?.code ?? facts.call?.status?.toString(),
    status_detail: facts.failure?.detail,
    message: facts.message,
    ...(facts.verdict && outcomeOf(facts.verdict)),
    actor: actorOf(facts.actor),
    api: {
      operation: facts.call ? `${facts.call.method} ${facts.call.path}` : facts.code,
      service: { name: product },
      request: facts.requestId === undefined ? undefined : { uid: facts.requestId },
    },
    ...callOf(facts.call),
    ...(facts.model && modelOf(facts.model)),
    ...(facts.change && changeOf(facts.change)),
    resources: resourcesOf(facts),
    unmapped: unmappedOf(facts),
  })
  return facts.content ? { document, content: facts.content } : { document }
}

function metadataOf(facts: EventFacts, parts: EventParts): AuditDocument['metadata'] {
  return {
    uid: parts.id,
    correlation_uid: facts.requestId,
    tenant_uid: facts.organizationId,
    version: ocsfVersion,
    product: { name: product, vendor_name: product, version: parts.productVersion },
    profiles: [
      ...(facts.verdict ? ['security_control'] : []),
      ...(facts.model ? ['ai_operation'] : []),
      'record_integrity',
    ],
    log_name: 'gatehouse.audit',
    event_code: facts.code,
    logged_time: parts.loggedMs,
  }
}

function severity({ code, verdict }: EventFacts): number {
  if (code === 'audit.tamper_found') return 5
  if (verdict) return severityOf(verdict)
  return code.startsWith('export.') && code !== 'export.test' && code !== 'export.recovered' ? 3 : 1
}

function outcomeOf(verdict: VerdictFacts): Partial<AuditDocument> {
  const [actionId, dispositionId] = actionOf(verdict)
  const { policy } = verdict
  return {
    action_id: actionId,
    disposition_id: dispositionId,
    is_alert: verdict.isEnforced && isDenial(verdict.decision),
    policy: policy && {
      uid: policy.id,
      name: policy.name,
      version: policy.version?.toString(),
      type: policy.kind,
      is_applied: verdict.isEnforced,
    },
  }
}

function actorOf(actor: ActorFacts | undefined): Actor {
  if (actor?.userId === undefined && actor?.credentialId === undefined) return { app_name: product }
  const { userId, userType, credentialId } = actor
  return {
    user: userId === undefined ? undefined : { uid: userId, type: userType },
    session: credentialId === undefined ? undefined : { uid: credentialId, credential_uid: credentialId },
  }
}

function callOf(call: CallFacts | undefined): Pick<AuditDocument, 'src_endpoint' | 'http_request' | 'http_response'> {
  if (!call) return { src_endpoint: { name: product } }
  return {
    src_endpoint: call.address === undefined ? { name: 'unknown' } : { ip: call.address },
    http_request: { http_method: call.method, url: { path: call.path }, user_agent: call.userAgent },
    http_response: call.status === undefined ? undefined : { code: call.status, latency: call.latencyMs },
  }
}

function modelOf(model: ModelFacts): Pick<AuditDocument, 'ai_model' | 'message_context'> {
  const { inputTokens, outputTokens } = model
  return {
    ai_model: { ai_provider: model.provider, name: model.name, version: model.version },
    message_context: {
      uid: model.responseId,
      service: { name: product },
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens,
    },
  }
}

function changeOf(change: ChangeFacts): Pick<AuditDocument, 'entity' | 'entity_result' | 'comment'> {
  const entity = (version: string | undefined, data: ManagedEntity['data']): ManagedEntity => ({
    uid: change.id,
    name: change.name,
    type: change.type,
    type_id: change.type === 'policy' ? 5 : 99,
    version,
    data,
  })
  return {
    entity: entity(change.versionBefore, { digest: change.digestBefore }),
    entity_result: entity(change.versionAfter, { digest: change.digestAfter, changed_fields: change.changedFields }),
    comment: change.comment,
  }
}

function resourcesOf({ projectId, resources = [] }: EventFacts): readonly Resource[] | undefined {
  const all = projectId === undefined ? resources : [{ uid: projectId, type: 'project' }, ...resources]
  return all.length === 0 ? undefined : all
}

function unmappedOf({ verdict, model, details }: EventFacts): AuditDocument['unmapped'] {
  return {
    gatehouse: { ...details, ...(verdict && verdictWords(verdict)), ...(model && costWords(model)) },
    gen_ai: model && {
      'operation.name': 'chat',
      'provider.name': model.provider,
      'request.model': model.name,
      'response.id': model.responseId,
      'usage.input_tokens': model.inputTokens,
      'usage.output_tokens': model.outputTokens,
      'response.finish_reasons': model.finishReasons,
    },
  }
}

function costWords(model: ModelFacts): AuditDocument['unmapped']['gatehouse'] {
  return {
    stream: model.isStream,
    credits_used: model.creditsUsed,
    cost_usd: model.costUsd,
    stage_ms: model.stageMs,
    prompt_sha256: model.promptDigest,
    response_sha256: model.responseDigest,
  }
}

/**
 * Callers choose user ids, paths and user agents: none of them may make an event large, or hold half a character
 * that cannot be written as UTF-8. Fields that are not known are left out.
 */
function bounded(document: AuditDocument): AuditDocument {
  return JSON.parse(JSON.stringify(document, (_key, value: unknown) => shortened(value)))
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxListLength)
  if (typeof value !== 'string') return value
  const short = value.length > maxTextLength ? `${value.slice(0, maxTextLength - 1)}…` : value
  return short.toWellFormed()
}
