import type { Clock } from '../../base/clock.ts'
import type { Appeals, AppealStores } from '../../domain/appeals/appeals.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import { none } from '../resources/fields.ts'
import type { ResourceRoutes } from '../resources/route.ts'
import type { ResourceStores } from '../resources/spec.ts'
import type { Route } from '../route.ts'
import { DecisionParams, OpenAppealBody, OpenedAppeal, presentOpenedAppeal } from './schema.ts'

type AppealRoutes = Pick<ResourceRoutes<Principal, AppealStores & ResourceStores>, 'mutation'>

/** `POST /v1/decisions/{event_id}/appeal`, by a key of the same project. */
export function decisionAppealRoute(
  { mutation }: AppealRoutes,
  { appeals, clock }: { readonly appeals: Appeals; readonly clock: Clock },
): Route {
  return mutation({
    name: 'appealDecision',
    method: 'POST',
    path: '/v1/decisions/{event_id}/appeal',
    summary: 'Appeal a decision',
    description:
      'Says that the decision on a request of the key’s project was wrong. A person reviews it within 30 days. Once for each decision (409 `already_appealed`), and 20 an hour for a key.',
    params: DecisionParams,
    query: none,
    body: OpenAppealBody,
    status: 201,
    answer: { description: 'The appeal.', schema: OpenedAppeal },
    operation: (stores, { actor, params, body: { note } }) =>
      appeals.openByCaller(stores, {
        organizationId: actor.organization.id,
        projectId: actor.projectId,
        eventId: params.event_id,
        openedBy: actor.id,
        note,
      }),
    present: (appeal) => ({
      id: appeal.id,
      object: 'decision.appeal',
      event_id: appeal.eventId,
      ...presentOpenedAppeal(appeal, clock.nowMs()),
    }),
  })
}
