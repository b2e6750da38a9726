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
  /** Binds the texts that are kept apart to the document: a digest of them that only this installation can make. */
  readonly digestContent?: (organizationId: string, content: AuditContent) => string
}

const ocsfVersion = '1.9.0'
const product = 'Gatehouse'
const maxTextLength = 1024
const maxListLength = 100

/**
 * The canonical document of what happened; texts of prompts and answers stay outside of it. Members are written in the
 * order of the alphabet, and those that sealing fills in have their place already: such a document needs no sorting.
 */
export function createEvent(facts: EventFacts, parts: EventParts): AuditEvent {
  const { classUid, activityId } = classOf(facts.code)
  const { call, failure, verdict, model, change, content } = facts
  const [actionId, dispositionId] = verdict ? actionOf(verdict) : []
  const document: AuditDocument = {
    action_id: actionId,
    activity_id: activityId,
    actor: actorOf(facts.actor),
    ai_model: model && { ai_provider: model.provider, name: model.name, version: model.version },
    api: apiOf(facts),
    attestation_list: undefined,
    category_uid: Math.floor(classUid / 1000),
    class_uid: classUid,
    comment: change?.comment,
    disposition_id: dispositionId,
    entity: change && entityBefore(change),
    entity_result: change && entityAfter(change),
    http_request: call && {
      http_method: call.method,
      url: { path: call.path },
      user_agent: call.userAgent,
    },
    http_response: call?.status === undefined ? undefined : { code: call.status, latency: call.latencyMs },
    is_alert: verdict && verdict.isEnforced && isDenial(verdict.decision),
    message: facts.message,
    message_context: model && messageContextOf(model),
    metadata: metadataOf(facts, parts),
    policy: verdict && policyOf(verdict),
    resources: resourcesOf(facts),
    severity_id: severity(facts),
    src_endpoint: sourceOf(call),
    status_code: failure?.code ?? call?.status?.toString(),
    status_detail: failure?.detail,
    status_id: failure ? 2 : 1,
    time: facts.timeMs,
    type_uid: classUid * 100 + activityId,
    unmapped: unmappedOf(facts, parts),
  }
  return content ? { document: bounded(document), content } : { document: bounded(document) }
}

function metadataOf(facts: EventFacts, parts: EventParts): AuditDocument['metadata'] {
  return {
    correlation_uid: facts.requestId,
    event_code: facts.code,
    log_name: 'gatehouse.audit',
    logged_time: parts.loggedMs,
    product: { name: product, vendor_name: product, version: parts.productVersion },
    profiles: [
      ...(facts.verdict ? ['security_control'] : []),
      ...(facts.model ? ['ai_operation'] : []),
      'record_integrity',
    ],
    sequence: undefined,
    tenant_uid: facts.organizationId,
    uid: parts.id,
    version: ocsfVersion,
  }
}

function severity({ code, verdict }: EventFacts): number {
  if (code === 'audit.tamper_found') return 5
  if (verdict) return severityOf(verdict)
  const isTrouble = code === 'audit.events_lost' || (code.startsWith('export.') && !calm.has(code))
  return isTrouble ? 3 : 1
}

/** What an export tells of itself without anything being wrong. */
const calm: ReadonlySet<string> = new Set(['export.test', 'export.recovered'])

function policyOf({ policy, isEnforced }: VerdictFacts): AuditDocument['policy'] {
  if (!policy) return undefined
  const { id, kind, name, version } = policy
  return { is_applied: isEnforced, name, type: kind, uid: id, version: version?.toString() }
}

function actorOf(actor: ActorFacts | undefined): Actor {
  if (actor?.userId === undefined && actor?.credentialId === undefined) return { app_name: product }
  const { userId, userType, credentialId } = actor
  return {
    session: credentialId === undefined ? undefined : { credential_uid: credentialId, uid: credentialId },
    user: userId === undefined ? undefined : { type: userType, uid: userId },
  }
}

const apiOf = ({ call, code, requestId }: EventFacts): AuditDocument['api'] => ({
  operation: call ? `${call.method} ${call.path}` : code,
  request: requestId === undefined ? undefined : { uid: requestId },
  service: { name: product },
})

function sourceOf(call: CallFacts | undefined): AuditDocument['src_endpoint'] {
  if (!call) return { name: product }
  return call.address === undefined ? { name: 'unknown' } : { ip: call.address }
}

function messageContextOf({ inputTokens, outputTokens, responseId }: ModelFacts): AuditDocument['message_context'] {
  const isCounted = inputTokens !== undefined && outputTokens !== undefined
  return {
    completion_tokens: outputTokens,
    prompt_tokens: inputTokens,
    service: { name: product },
    total_tokens: isCounted ? inputTokens + outputTokens : undefined,
    uid: responseId,
  }
}

const entityBefore = (change: ChangeFacts): ManagedEntity =>
  entityOf(change, change.versionBefore, { digest: change.digestBefore })

const entityAfter = (change: ChangeFacts): ManagedEntity =>
  entityOf(change, change.versionAfter, { changed_fields: change.changedFields, digest: change.digestAfter })

const entityOf = (
  { id, name, type }: ChangeFacts,
  version: string | undefined,
  data: ManagedEntity['data'],
): ManagedEntity => ({ data, name, type, type_id: type === 'policy' ? 5 : 99, uid: id, version })

function resourcesOf({ projectId, resources = [] }: EventFacts): readonly Resource[] | undefined {
  const all = projectId === undefined ? resources : [{ type: 'project', uid: projectId }, ...resources]
  return all.length === 0 ? undefined : all
}

function unmappedOf(facts: EventFacts, { digestContent }: EventParts): AuditDocument['unmapped'] {
  const { verdict, model, details, content } = facts
  const ours = {
    ...details,
    ...(verdict && verdictWords(verdict)),
    ...(model && costWords(model)),
    ...(content && digestContent && { content_digest: digestContent(facts.organizationId, content) }),
  }
  return {
    gatehouse: Object.fromEntries(Object.entries(ours).sort(([left], [right]) => (left < right ? -1 : 1))),
    gen_ai: model && {
      'operation.name': 'chat',
      'provider.name': model.provider,
      'request.model': model.name,
      'response.finish_reasons': model.finishReasons,
      'response.id': model.responseId,
      'usage.input_tokens': model.inputTokens,
      'usage.output_tokens': model.outputTokens,
    },
  }
}

const costWords = (model: ModelFacts): AuditDocument['unmapped']['gatehouse'] => ({
  stream: model.isStream,
  credits_used: model.creditsUsed,
  cost_usd: model.costUsd,
  stage_ms: model.stageMs,
  prompt_sha256: model.promptDigest,
  response_sha256: model.responseDigest,
})

/**
 * Callers choose user ids, paths and user agents: none of them may make an event large, or hold half a character
 * that cannot be written as UTF-8. Nearly all events pass as they are.
 */
function bounded(document: AuditDocument): AuditDocument {
  if (isBounded(document)) return document
  return JSON.parse(JSON.stringify(document, (_key, value: unknown) => shortened(value)))
}

function isBounded(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= maxTextLength && value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.length <= maxListLength && value.every(isBounded)
  return Object.values(value).every(isBounded)
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxListLength)
  if (typeof value !== 'string') return value
  const short = value.length > maxTextLength ? `${value.slice(0, maxTextLength - 1)}…` : value
  return short.toWellFormed()
}
