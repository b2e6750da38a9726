import type { Route } from '../../route.ts'
import { defined } from '../../defined.ts'
import { none } from '../fields.ts'
import { pageOf, presentList } from '../list.ts'
import type { AdminRoutes } from '../route.ts'
import { presentEntry } from './present.ts'
import * as Schema from './schema.ts'

/** `/v1/organization/audit_logs`: who changed what. */
export function auditLogRoutes({ question }: AdminRoutes): Route[] {
  return [
    question({
      path: '/v1/organization/audit_logs',
      summary: 'List what administrators changed',
      permission: 'audit:read',
      params: none,
      query: Schema.AuditLogQuery,
      answer: { description: 'A page of changes.', schema: Schema.AuditLogList },
      async operation({ audit }, { who, query }) {
        const filter = defined({
          kind: query.kind,
          policyId: query.policy_id,
          projectId: query.project_id,
          requestId: query.request_id,
        })
        return presentList(await audit.list(who.organization.id, filter, pageOf(query)), presentEntry)
      },
    }),
  ]
}
