import { isIP } from 'node:net'
import { short, shortList, shortTexts, shortFields } from './field-limits.ts'
import type { AuditContent } from './content.ts'
import type { SealedSample } from '../replay-sample.ts'
import type { DocumentActor, AuditDocument, ManagedEntity, Resource, Unmapped } from './document.ts'
import type { ActorFacts, CallFacts, ChangeFacts, EventFacts, ModelFacts, TimingFacts } from './facts.ts'
import type { FailedAttempt } from './request-timing.ts'
import { classOf } from './kinds.ts'
import {
  actionOf,
  isDenial,
  severityOf,
  type ClassifierFacts,
  type CheckResult,
  type GatewayMatch,
  type PolicyResult,
  type VerdictFacts,
} from './verdict.ts'

/** An event before it is appended to the chain. */
export type AuditEvent = {
  readonly document: AuditDocument
  readonly content?: AuditContent | undefined
  /** Written beside the event, and not part of it. */
  readonly sample?: SealedSample | undefined
}

export type EventParts = {
  /** Created once, when the event is written. */
  readonly id: string
  readonly loggedMs: number
  readonly productVersion: string
  /** A keyed digest of the texts, which binds them to the document although they are stored apart. */
  readonly digestContent?: (organizationId: string, content: AuditContent) => string
}

const ocsfVersion = '1.9.0'
const product = 'Gatehouse'

/**
 * Builds the document of an event, without texts of prompts and answers. Keep the members in alphabetical order, including
 * those that `appendToChain` fills in, because then `JSON.stringify` produces canonical JSON without sorting.
 */
export function createEvent(facts: EventFacts, parts: EventParts): AuditEvent {
  const { classUid, activityId } = classOf(facts.code)
  const { call, failure, verdict, model, change, content, sample } = facts
  const [actionId, dispositionId] = verdict ? actionOf(verdict) : []
  const document: AuditDocument = {
    action_id: actionId,
    activity_id: activityId,
    actor: actorOf(facts.actor),
    ai_model: model && { ai_provider: short(model.provider), name: short(model.name) },
    api: apiOf(facts),
    attestation_list: undefined,
    category_uid: Math.floor(classUid / 1000),
    class_uid: classUid,
    disposition_id: dispositionId,
    entity: change && entityBefore(change),
    entity_result: change && entityAfter(change),
    http_request: call && {
      http_method: short(call.method),
      url: { path: short(call.path) },
      user_agent: short(call.userAgent),
    },
    http_response: call?.status === undefined ? undefined : { code: call.status, latency: call.latencyMs },
    is_alert: verdict && verdict.isEnforced && isDenial(verdict.decision),
    message: short(facts.message),
    message_context: model && messageContextOf(model),
    metadata: metadataOf(facts, parts),
    policy: verdict && policyOf(verdict),
    resources: resourcesOf(facts),
    severity_id: severity(facts),
    src_endpoint: sourceOf(call),
    status_code: short(failure?.code) ?? call?.status?.toString(),
    status_id: failure ? 2 : 1,
    time: facts.timeMs,
    type_uid: classUid * 100 + activityId,
    unmapped: unmappedOf(facts, parts),
  }
  if (sample) return { document, content, sample }
  return content ? { document, content } : { document }
}

function metadataOf(facts: EventFacts, parts: EventParts): AuditDocument['metadata'] {
  return {
    correlation_uid: short(facts.requestId),
    event_code: short(facts.code),
    log_name: 'gatehouse.audit',
    logged_time: parts.loggedMs,
    product: { name: product, vendor_name: product, version: parts.productVersion },
    profiles: profilesOf(facts),
    sequence: undefined,
    tenant_uid: short(facts.organizationId),
    uid: short(parts.id),
    version: ocsfVersion,
  }
}

function profilesOf({ verdict, model }: EventFacts): readonly string[] {
  const profiles = ['record_integrity']
  if (model) profiles.unshift('ai_operation')
  if (verdict) profiles.unshift('security_control')
  return profiles
}

function severity({ code, verdict }: EventFacts): number {
  if (code === 'audit.tamper_found') return 5
  if (verdict) return severityOf(verdict)
  const isProblem = problemCodes.has(code) || (code.startsWith('export.') && !healthyExportCodes.has(code))
  return isProblem ? 3 : 1
}

const problemCodes: ReadonlySet<string> = new Set(['audit.events_lost', 'audit.loss_accepted', 'audit.signed_late'])

/** Export events that report no problem. */
const healthyExportCodes: ReadonlySet<string> = new Set(['export.test', 'export.recovered'])

function policyOf({ policy, isEnforced }: VerdictFacts): AuditDocument['policy'] {
  if (!policy) return undefined
  const { id, name, version } = policy
  return { is_applied: isEnforced, name: short(name), uid: short(id), version: short(version?.toString()) }
}

function actorOf(actor: ActorFacts | undefined): DocumentActor {
  if (actor?.userId === undefined && actor?.credentialId === undefined) return { app_name: product }
  const credentialId = short(actor.credentialId)
  return {
    session: credentialId === undefined ? undefined : { credential_uid: credentialId, uid: credentialId },
    user: actor.userId === undefined ? undefined : { uid: short(actor.userId) },
  }
}

const apiOf = ({ call, code, requestId }: EventFacts): AuditDocument['api'] => ({
  operation: short(call ? [call.method, call.path].join(' ') : code),
  request: requestId === undefined ? undefined : { uid: short(requestId) },
  service: { name: product },
})

/** A proxy may write any text as the address, such as `192.0.2.1:5555`. Only a plain IP goes to `ip`, because destinations reject an event otherwise. */
function sourceOf(call: CallFacts | undefined): AuditDocument['src_endpoint'] {
  if (!call) return { name: product }
  const { address = 'unknown' } = call
  return isIP(address) === 0 || address.includes('%') ? { name: short(address) } : { ip: address }
}

function messageContextOf({ inputTokens, outputTokens }: ModelFacts): AuditDocument['message_context'] {
  const isCounted = inputTokens !== undefined && outputTokens !== undefined
  return {
    completion_tokens: outputTokens,
    prompt_tokens: inputTokens,
    service: { name: product },
    total_tokens: isCounted ? inputTokens + outputTokens : undefined,
  }
}

const entityBefore = (change: ChangeFacts): ManagedEntity =>
  entityOf(change, change.versionBefore, { digest: short(change.digestBefore) })

const entityAfter = (change: ChangeFacts): ManagedEntity =>
  entityOf(change, change.versionAfter, {
    changed_fields: change.changedFields && shortTexts(change.changedFields),
    digest: short(change.digestAfter),
  })

const entityOf = (
  { id, name, type }: ChangeFacts,
  version: string | undefined,
  data: ManagedEntity['data'],
): ManagedEntity => ({
  data,
  name: short(name),
  type,
  type_id: type === 'policy' ? 5 : 99,
  uid: short(id),
  version: short(version),
})

function resourcesOf({ projectId, resources = [] }: EventFacts): readonly Resource[] | undefined {
  const all: readonly Resource[] =
    projectId === undefined ? resources : [{ type: 'project', uid: projectId }, ...resources]
  if (all.length === 0) return undefined
  return shortList(all, ({ name, type, uid }) => ({ name: short(name), type: short(type), uid: short(uid) }))
}

function unmappedOf(facts: EventFacts, { digestContent }: EventParts): AuditDocument['unmapped'] {
  const { model, details, content } = facts
  const digest = content && digestContent?.(facts.organizationId, content)
  const fields = gatehouseFields(facts, digest)
  return {
    gatehouse: details ? shortFields({ ...details, ...defined(fields) }) : fields,
    gen_ai: model && {
      'operation.name': model.operation ?? 'chat',
      'provider.name': short(model.provider),
      'request.model': short(model.name),
      'response.finish_reasons': model.finishReasons && shortTexts(model.finishReasons),
      'usage.input_tokens': model.inputTokens,
      'usage.output_tokens': model.outputTokens,
    },
  }
}

/** Without undefined members, so that they do not overwrite members of `details`. */
const defined = (fields: AuditDocument['unmapped']['gatehouse']) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The fields of `unmapped.gatehouse`, which OCSF does not define, in alphabetical order. */
function gatehouseFields(facts: EventFacts, contentDigest?: string): Unmapped['gatehouse'] {
  const { actor, call, verdict, model, timing } = facts
  return {
    actor_type: short(actor?.kind),
    categories_requested: verdict?.categoriesRequested && shortTexts(verdict.categoriesRequested),
    categories_triggered: verdict?.categoriesTriggered && shortTexts(verdict.categoriesTriggered),
    check: verdict?.check,
    check_results: verdict?.checkResults && shortList(verdict.checkResults, checkResultFields),
    classifier: verdict?.classifier && classifierFields(verdict.classifier),
    content_digest: contentDigest,
    cost_usd: model?.costUsd,
    coverage: verdict?.coverage,
    credits_used: model?.creditsUsed,
    data_classification: short(verdict?.dataClassification),
    decision: verdict?.decision,
    dialect: call?.dialect,
    direction: verdict?.direction,
    gateway_version: verdict?.gatewayVersion,
    is_enforced: verdict?.isEnforced,
    judge: short(verdict?.judge),
    match_score_bp: verdict?.matchScoreBasisPoints,
    reason_code: short(verdict?.reasonCode),
    reported_tokens: model?.reportedTokens,
    results: verdict?.results && shortList(verdict.results, resultFields),
    rollout_mode: short(verdict?.rolloutMode),
    session_id: short(call?.session),
    stream: model?.isStream,
    tags: facts.tags && shortFields(facts.tags),
    timing_us: timing && timingFields(timing),
    usage_source: model?.usageSource,
  }
}

const classifierFields = ({ id, stage, version }: ClassifierFacts): Unmapped['gatehouse'] => ({
  id: short(id),
  stage,
  version: short(version),
})

const timingFields = (timing: TimingFacts): Unmapped['gatehouse'] => ({
  accepted: timing.acceptedUs,
  admitted: timing.admittedUs,
  answered: timing.answeredUs,
  checked: timing.checkedUs,
  failed_attempts: timing.failedAttempts && shortList(timing.failedAttempts, attemptFields),
  first_byte: timing.firstByteUs,
  held_back: timing.heldBackUs,
  total: timing.totalUs,
})

const attemptFields = ({ code, endedUs, upstream }: FailedAttempt): Unmapped['gatehouse'] => ({
  code: short(code),
  ended: endedUs,
  upstream: short(upstream),
})

const checkResultFields = (result: CheckResult): Unmapped['gatehouse'] => ({
  categories: result.triggeredCategories.length === 0 ? undefined : shortTexts(result.triggeredCategories),
  check: result.check,
  decision: result.decision,
  is_enforced: result.isEnforced,
  matched: result.matched && matchedFields(result.matched),
  places: result.places && shortTexts(result.places),
  score_bp: result.scoreBasisPoints,
})

const matchedFields = ({ deniedTerms, hasNoAllowedTerm, personalData }: GatewayMatch): Unmapped['gatehouse'] => ({
  denied_terms: deniedTerms.length === 0 ? undefined : deniedTerms.slice(0, maxTerms),
  no_allowed_term: hasNoAllowedTerm || undefined,
  personal_data: Object.keys(personalData).length === 0 ? undefined : sortedFields(personalData),
})

/** Enough to explain a decision. */
const maxTerms = 20

const sortedFields = (fields: GatewayMatch['personalData']): GatewayMatch['personalData'] =>
  Object.fromEntries(Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1)))

const resultFields = (result: PolicyResult): Unmapped['gatehouse'] => ({
  decision: result.decision,
  exception_id: result.exceptionId,
  is_enforced: result.isEnforced,
  judge: result.judge,
  policy_id: short(result.policyId ?? ''),
  rollout_percent: result.rollout?.percent,
  score_bp: result.scoreBasisPoints,
  // No threshold lets a score of 0 match, and most policies give it.
  threshold_bp: result.scoreBasisPoints === 0 ? undefined : result.thresholdBasisPoints,
  version: result.version,
})
