import type { Static } from 'typebox'
import { Fault } from '../../../base/fault.ts'
import { gatehouseField } from '../../../domain/audit/event/document.ts'
import type { LoggedEvent, AuditReads } from '../../../domain/audit/log.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { none, periodOf } from '../../resources/fields.ts'
import type { ResourceActor } from '../../resources/spec.ts'
import type { Route } from '../../route.ts'
import type { GatewayReads } from '../routes.ts'
import * as Schema from './schema.ts'

/** `/api/policy-gateway/history`: decisions on requests and simulations. */
export function historyRoutes({ read }: GatewayReads<{ readonly events: AuditReads }>): Route[] {
  return [
    read({
      name: 'listDecisions',
      path: '/api/policy-gateway/history',
      summary: 'List decisions of the gateway',
      description: 'With an API key or a token: only decisions of its project.',
      permission: 'gateway:read',
      isReport: true,
      params: none,
      query: Schema.HistoryQuery,
      answer: { description: 'A page of decisions.', schema: Schema.HistoryList },
      async operation({ events }, { actor, query }) {
        const filter = omitUndefined({
          family: 'gateway',
          decision: query.decision,
          policyId: query.policy_id,
          userId: query.user_id,
          requestId: query.request_id,
          projectId: projectOf(actor, query.project_id),
          code: query.kind,
          ...periodOf({ from: secondsOf(query.from), to: secondsOf(query.to) }),
        })
        return presentList(await events.list(actor.organization.id, filter, pageOf(query)), presentDecision)
      },
    }),
  ]
}

/** A key of a project sees its own project, whichever it names. */
function projectOf(actor: ResourceActor, requested: string | undefined): string | undefined {
  if (!('projectId' in actor)) return requested
  if (requested === undefined || requested === actor.projectId) return actor.projectId
  throw new Fault('permission', 'project_mismatch', 'project_id names another project than the key’s own.', {
    param: 'project_id',
  })
}

const secondsOf = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time) / 1000)

function presentDecision({ document }: LoggedEvent): Static<typeof Schema.HistoryList>['data'][number] {
  const { code, requestId, projectId, userId, decision, policyId, id, timeMs } = rowOf(document, '')
  const { is_enforced: isEnforced, categories_triggered: categories } = document.unmapped.gatehouse
  const { message_context: context } = document
  return {
    id,
    object: 'policy_gateway.event',
    kind: code,
    created_at: new Date(timeMs).toISOString(),
    request_id: requestId,
    project_id: projectId,
    user_id: userId,
    model: document.ai_model?.name ?? null,
    decision,
    enforced: typeof isEnforced === 'boolean' ? isEnforced : null,
    reason_code: gatehouseField(document, 'reason_code') ?? null,
    rollout_mode: gatehouseField(document, 'rollout_mode') ?? null,
    policy_id: policyId,
    policy_version: document.policy?.version ?? null,
    triggered_categories: Array.isArray(categories) ? categories.map(String) : [],
    input_tokens: context?.prompt_tokens ?? null,
    output_tokens: context?.completion_tokens ?? null,
    error: document.status_id === 2 ? (document.status_code ?? null) : null,
  }
}
