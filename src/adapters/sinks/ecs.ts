import { gatehouseField, type ChainedDocument } from '../../domain/audit/event/document.ts'

const ecsVersion = '9.0.0'

/** The document in the Elastic Common Schema, so that Elastic's own dashboards and rules can use it. */
export function toEcs(document: ChainedDocument) {
  const { metadata, unmapped, http_request: request, http_response: response } = document
  return {
    '@timestamp': new Date(document.time).toISOString(),
    ecs: { version: ecsVersion },
    message: document.message,
    event: eventOf(document),
    organization: { id: metadata.tenant_uid },
    user: document.actor.user && { id: document.actor.user.uid },
    source: document.src_endpoint.ip === undefined ? undefined : { ip: document.src_endpoint.ip },
    rule: ruleOf(document),
    http: request && {
      request: { method: request.http_method, id: metadata.correlation_uid },
      response: response && { status_code: response.code },
    },
    url: request && { path: request.url.path },
    user_agent: request?.user_agent === undefined ? undefined : { original: request.user_agent },
    gen_ai: unmapped.gen_ai,
    labels: { request_id: metadata.correlation_uid },
    gatehouse: {
      ...unmapped.gatehouse,
      credential_id: document.actor.session?.uid,
      severity_id: document.severity_id,
      action_id: document.action_id,
      disposition_id: document.disposition_id,
      is_truncated: metadata.is_truncated,
      untruncated_size: metadata.untruncated_size,
      message_context: document.message_context,
      entity: document.entity,
      entity_result: document.entity_result,
      resources: document.resources,
      attestation: document.attestation_list[0],
    },
  }
}

function eventOf(document: ChainedDocument) {
  const { metadata, is_alert: isAlert } = document
  return {
    id: metadata.uid,
    kind: 'event',
    ...categoryOf(document),
    action: metadata.event_code,
    code: metadata.event_code,
    outcome: document.status_id === 1 ? 'success' : 'failure',
    dataset: metadata.log_name,
    sequence: metadata.sequence,
    hash: document.attestation_list[0].fingerprint?.value,
    reason: gatehouseField(document, 'reason_code'),
    created: new Date(metadata.logged_time).toISOString(),
    severity: document.severity_id,
    ...(isAlert === undefined ? {} : { type: [isAlert ? 'denied' : 'allowed'] }),
  }
}

const entityManagement = 3004

function categoryOf({ class_uid: classUid }: ChainedDocument) {
  if (classUid === entityManagement) return { category: ['configuration'], type: ['change'] }
  return { category: ['api'], type: ['info'] }
}

function ruleOf(document: ChainedDocument) {
  const { policy } = document
  if (!policy) return undefined
  const { uid, name, version } = policy
  return { id: uid, name, ruleset: uid, version }
}
