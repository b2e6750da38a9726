import type { Static } from 'typebox'
import { Fault } from '../../../base/fault.ts'
import type { AuditReads, RequestCount, RequestFilter, RequestPage } from '../../../domain/audit/log.ts'
import { readEvaluatedRules } from '../../../domain/explanation/evaluated-rules.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { GatewayStore } from '../../../domain/gateway-config/store.ts'
import type { PolicyStore } from '../../../domain/policy/store.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import { contentOf, type ContentParts } from './content.ts'
import type { ReadFilter } from './filter.ts'
import { presentDetail } from './present-detail.ts'
import { presentRequest } from './present.ts'
import * as Schema from './schema.ts'

const path = '/v1/organization/requests'

export type RequestReads = {
  readonly events: AuditReads
  readonly policies: PolicyStore
  readonly gateway: Pick<GatewayStore, 'findVersion'>
}

type RequestParts = ContentParts & {
  readonly readFilter: ReadFilter
  readonly count: (organizationId: string, filter: RequestFilter) => Promise<RequestCount>
}

/** `/v1/organization/requests`: the inference requests of the organization, as the audit log has them. */
export function requestRoutes({ read }: AdminReads<RequestReads>, parts: RequestParts): Route[] {
  return [
    read({
      name: 'listRequests',
      path,
      summary: 'List requests',
      description:
        'Inference requests with their decisions, usage and latency, from the audit log. `first_id` and `last_id` are cursors and no ids of requests: pass `last_id` on as `after`.',
      permission: 'audit:read',
      isReport: true,
      params: none,
      query: Schema.RequestQuery,
      answer: { description: 'A page of requests.', schema: Schema.RequestList },
      async operation({ events }, { actor, query }) {
        const { id } = actor.organization
        const filter = await parts.readFilter(id, query)
        const page = await events.listRequests(id, filter, pageOf(query))
        const total = query.include === 'total' ? await parts.count(id, filter) : undefined
        return {
          ...presentList(page, presentRequest),
          ...cursorsOf(page),
          ...(total && { total: total.count, is_total_exact: total.isExact }),
        }
      },
    }),
    read({
      name: 'getRequest',
      path: `${path}/{request_id}`,
      summary: 'Read a request',
      description:
        'With its timeline, the outcome of each check, what was charged, and its place in the audit log. With `include=content` also its texts, if the configuration `audit.content` keeps them; each such read is an event of the audit log.',
      permission: 'audit:read',
      params: Schema.RequestParams,
      query: Schema.RequestDetailQuery,
      answer: { description: 'The request.', schema: Schema.RequestDetailObject },
      record: contentRead,
      async operation({ events, policies, gateway }, { actor, params: { request_id: id }, query: { include } }) {
        if (include === 'content') requirePermission(actor.permissions, 'content:read')
        const { id: organizationId } = actor.organization
        const event = await events.findRequest(organizationId, id)
        if (!event) throw new Fault('not_found', 'not_found', `There is no request ${id} in the audit log.`)
        const [chain, rules] = await Promise.all([
          events.chainContext(organizationId, event.sequence),
          readEvaluatedRules({ policies, gateway }, event.document),
        ])
        const content = include === 'content' ? await contentOf(event, { ...parts, rules }) : null
        return presentDetail(event, { ...rules, chain, content })
      },
    }),
  ]
}

/** Who read which texts must be known. */
const contentRead = ({ id, content, project_id: projectId }: Static<typeof Schema.RequestDetailObject>) =>
  content === null
    ? undefined
    : {
        kind: 'audit.content.read' as const,
        resourceId: id,
        ...(projectId !== null && { projectId }),
        details: { level: content.level },
      }

/** The cursors of this list are ids of events, because `after` names an event. */
const cursorsOf = ({ items, nextAfter }: RequestPage) => ({
  first_id: items[0]?.id ?? null,
  last_id: nextAfter ?? items.at(-1)?.id ?? null,
})
