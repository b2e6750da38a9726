import type { Static, TObject } from 'typebox'
import { codeOfFilter } from '../../../domain/audit/event/kinds.ts'
import type { AuditFilter } from '../../../domain/audit/log.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { periodOf } from '../../resources/fields.ts'
import type { AuditFilterFields } from './schema.ts'

/** The filter of a query. */
export const auditFilterOf = (query: Static<TObject<typeof AuditFilterFields>>): AuditFilter =>
  omitUndefined({
    code: query.kind === undefined ? undefined : codeOfFilter(query.kind),
    withoutRequests: query.without_requests,
    withoutCheckpoints: query.without_checkpoints,
    decision: query.decision,
    policyId: query.policy_id,
    projectId: query.project_id,
    userId: query.user_id,
    requestId: query.request_id,
    actorId: query.actor_id,
    resourceId: query.resource_id,
    ...periodOf(query),
  })
