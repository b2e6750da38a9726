import { isRecord } from '../../../base/record.ts'
import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { VerificationKeys as TrustedKeys } from '../../../domain/audit/chain/checkpoint.ts'
import type { LoggedEvent, PublishedKey } from '../../../domain/audit/log.ts'
import { kindOfCode } from '../../../domain/audit/event/kinds.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import { actorKinds } from '../../../domain/mutations/audit-log.ts'
import type { AuditEntryObject, CheckpointKeys } from './schema.ts'

type Entry = Static<typeof AuditEntryObject>

export function presentAuditEntry({ document, content }: LoggedEvent): Entry {
  const { fingerprint, requestId, resourceId, policyId, projectId, userId, decision, ...row } = rowOf(document, '')
  const { old_revision: before, new_revision: after, changes } = document.unmapped.gatehouse
  return {
    id: row.id,
    object: 'organization.audit_log',
    sequence: row.sequence,
    fingerprint,
    kind: kindOfCode(row.code),
    message: document.message,
    created_at: toUnixSeconds(row.timeMs),
    actor: actorOf(document),
    request_id: requestId,
    resource_id: resourceId,
    policy_id: policyId,
    project_id: projectId,
    user_id: userId,
    decision,
    old_revision: typeof before === 'number' ? before : null,
    new_revision: typeof after === 'number' ? after : null,
    details: { ...(content?.details ?? (isRecord(changes) ? changes : detailsOf(document))) },
  }
}

function actorOf({ actor, unmapped }: LoggedEvent['document']): Entry['actor'] {
  const id = actor.session?.credential_uid ?? null
  const type = actorKinds.find((kind) => kind === unmapped.gatehouse['actor_type'])
  return { type: type ?? 'system', id }
}

/** The details of a request event, without those that have a field of their own in the entry. */
function detailsOf({ ai_model: model, message_context: context, unmapped, ...document }: LoggedEvent['document']) {
  const { actor_type: _type, decision: _decision, ...gatewayFields } = unmapped.gatehouse
  return {
    ...gatewayFields,
    ...(model && { model: model.name, provider: model.ai_provider }),
    ...(context && { input_tokens: context.prompt_tokens, output_tokens: context.completion_tokens }),
    ...(document.status_id === 2 && { error: document.status_code }),
  }
}

/** Keys are derived from the server secret. Only their creation times come from the database, because it is not trusted. */
export function presentKeys(keys: TrustedKeys, published: readonly PublishedKey[]): Static<typeof CheckpointKeys> {
  const since = new Map(published.map(({ id, createdAtMs }) => [id, toUnixSeconds(createdAtMs)]))
  return {
    object: 'list',
    data: [...keys].map(([id, key]) => ({
      id,
      object: 'organization.audit_log.key',
      algorithm: 'Ed25519',
      public_key: key.export({ type: 'spki', format: 'pem' }),
      created_at: since.get(id) ?? null,
    })),
  }
}
