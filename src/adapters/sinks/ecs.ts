import type { SealedDocument } from '../../domain/audit/document.ts'

const ecsVersion = '9.0.0'

/** The document in the Elastic Common Schema, so that Elastic's own dashboards and rules read it. */
export function toEcs(document: SealedDocument) {
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
      comment: document.comment,
      resources: document.resources,
      attestation: document.attestation_list[0],
    },
  }
}

function eventOf({ metadata, class_uid: classUid, ...document }: SealedDocument) {
  const { decision, reason_code: reasonCode } = document.unmapped.gatehouse
  const isChange = classUid === 3004
  return {
    id: metadata.uid,
    kind: 'event',
    category: isChange ? ['configuration'] : ['api'],
    type: isChange ? ['change'] : decision === undefined ? ['info'] : [document.is_alert ? 'denied' : 'allowed'],
    action: metadata.event_code,
    code: metadata.event_code,
    outcome: document.status_id === 1 ? 'success' : 'failure',
    dataset: metadata.log_name,
    sequence: metadata.sequence,
    hash: document.attestation_list[0].fingerprint?.value,
    reason: reasonCode,
    created: new Date(metadata.logged_time).toISOString(),
    severity: document.severity_id,
  }
}

function ruleOf({ policy, unmapped }: SealedDocument) {
  if (!policy) return undefined
  return {
    id: unmapped.gatehouse.rule_id ?? policy.uid,
    name: policy.name,
    ruleset: policy.uid,
    version: policy.version,
  }
}
