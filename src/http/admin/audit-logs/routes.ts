import { Fault } from '../../../base/fault.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { none } from '../../resources/fields.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { auditFilterOf } from './filter.ts'
import { presentAuditEntry, presentKeys } from './present.ts'
import * as Schema from './schema.ts'
import type { AuditReads } from '../../../domain/audit/log.ts'
import type { TrustedKeys } from '../../../domain/audit/chain/trusted-keys.ts'

/** `/v1/organization/audit_logs`: events, and the public keys of their signatures. */
export function auditLogRoutes(
  { read }: AdminReads<{ readonly events: AuditReads }>,
  audit: { readonly trustedKeys: () => TrustedKeys },
): Route[] {
  return [
    read({
      name: 'listAuditEvents',
      path: '/v1/organization/audit_logs',
      summary: 'List audit events',
      description: 'Requests with their decisions, changes by administrators, exports and checkpoints.',
      permission: 'audit:read',
      isReport: true,
      params: none,
      query: Schema.AuditLogQuery,
      answer: { description: 'A page of events.', schema: Schema.AuditLogList },
      async operation({ events }, { actor, query }) {
        return presentList(
          await events.list(actor.organization.id, auditFilterOf(query), pageOf(query)),
          presentAuditEntry,
        )
      },
    }),
    read({
      name: 'getAuditEvent',
      path: '/v1/organization/audit_logs/{event_id}',
      summary: 'Read an audit event',
      description: 'The `event_id` in the `policy` object of a blocked request names its event.',
      permission: 'audit:read',
      params: Schema.AuditEventParams,
      query: none,
      answer: { description: 'The event.', schema: Schema.AuditEntryObject },
      tag: contentTag,
      async operation({ events }, { actor, params }) {
        const event = await events.find(actor.organization.id, params.event_id)
        if (!event) throw new Fault('not_found', 'not_found', `There is no audit event ${params.event_id}.`)
        return presentAuditEntry(event)
      },
    }),
    read({
      name: 'listCheckpointKeys',
      path: '/v1/organization/audit_logs/keys',
      summary: 'List the public keys of checkpoints',
      description:
        'Checkpoints sign the audit log and are sent to every export sink; these keys verify them. Pin the keys: keep a copy outside of this service and its database. They are derived from the server secret.',
      permission: 'audit:read',
      params: none,
      query: none,
      answer: { description: 'The keys of the server secret.', schema: Schema.CheckpointKeys },
      operation: async ({ events }) => presentKeys(audit.trustedKeys().keys, await events.keys()),
    }),
  ]
}
