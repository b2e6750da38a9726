import type { Static } from 'typebox'
import { gatehouseField } from '../../../domain/audit/event/document.ts'
import type { LoggedEvent } from '../../../domain/audit/log.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { none } from '../../resources/fields.ts'
import type { ResourceActor } from '../../resources/route.ts'
import type { Route } from '../../route.ts'
import type { GatewayRoutes } from '../parts.ts'
import * as Schema from './schema.ts'

/** `/api/policy-gateway/history`: decisions on requests and simulations. */
export function historyRoutes({ read }: GatewayRoutes): Route[] {
  return [
    read({
      name: 'listDecisions',
      path: '/api/policy-gateway/history',
      summary: 'List decisions of the gateway',
      description: 'With an API key or a token: only decisions of its project.',
      permission: 'gateway:read',
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
          projectId: projectOf(actor),
        })
        return presentList(await events.list(actor.organization.id, filter, pageOf(query)), presentDecision)
      },
    }),
  ]
}

const projectOf = (actor: ResourceActor): string | undefined => ('projectId' in actor ? actor.projectId : undefined)

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
