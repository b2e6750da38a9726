import type { Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import { findAppeal, type Appeals } from '../../../domain/appeals/appeals.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { AuditRecord } from '../../../domain/mutations/audit-log.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { appealAt, presentAppeal, presentChanged, type AppealReads } from './present.ts'
import * as Schema from './schema.ts'

const path = '/v1/organization/appeals'
const one = `${path}/{appeal_id}`
const answer = { description: 'The appeal.', schema: Schema.AppealObject }

export type AppealRouteParts = { readonly appeals: Appeals; readonly clock: Clock }

/** Appeals against decisions on requests. */
export function appealRoutes(
  { read, mutation }: AdminRoutes<AppealReads>,
  { appeals, clock }: AppealRouteParts,
): Route[] {
  return [
    read({
      name: 'listAppeals',
      path,
      summary: 'List appeals',
      description:
        'The decision, the claim and the note of an open appeal are left out until you have labelled it, so that your label is blind.',
      permission: 'reviews:read',
      params: none,
      query: Schema.AppealQuery,
      answer: { description: 'A page of appeals.', schema: Schema.AppealList },
      record: revealed,
      async operation(stores, { actor, query: { state, policy_id: policyId, blind, ...page } }) {
        const nowMs = clock.nowMs()
        const filter = { nowMs, ...(state !== undefined && { state }), ...(policyId !== undefined && { policyId }) }
        const { items, ...rest } = await stores.appeals.list(actor.organization.id, filter, pageOf(page))
        const shown = { actor, nowMs, isBlind: blind, texts: 'none' } as const
        const data = await Promise.all(items.map((appeal) => presentAppeal(stores, appeal, shown)))
        return presentList({ ...rest, items: data }, (body) => body)
      },
    }),
    mutation({
      name: 'openAppeal',
      method: 'POST',
      path,
      summary: 'Open an appeal',
      description:
        'Against the decision on any request, also on one that every check allowed. Responds with 409 `already_appealed` if there is an appeal against it. Another person reviews it.',
      permission: 'reviews:write',
      params: none,
      query: none,
      body: Schema.OpenAppeal,
      status: 201,
      answer,
      async operation(stores, { actor, body }) {
        const { event_id: eventId, policy_id: policyId, note, claim, direction } = body
        const organizationId = actor.organization.id
        if (policyId !== undefined) await requirePolicy(stores, organizationId, policyId)
        const input = { organizationId, eventId, note, claim, policyId, direction, openedBy: actor.id }
        return presentChanged(stores, await appeals.openByAdministrator(stores, input), { actor, nowMs: clock.nowMs() })
      },
      present: (body) => body,
    }),
    read({
      name: 'getAppeal',
      path: one,
      summary: 'Read an appeal',
      permission: 'reviews:read',
      params: Schema.AppealParams,
      query: Schema.AppealDetailQuery,
      answer,
      record: (body: Schema.AppealBody) => [...revealed({ data: [body] }), ...textRead(body)],
      async operation(stores, { actor, params, query: { blind, include } }) {
        if (include === 'content') requirePermission(actor.permissions, 'content:read')
        const appeal = await findAppeal(stores.appeals, appealAt(actor, params))
        const texts = include === 'content' ? 'shown' : 'known'
        return presentAppeal(stores, appeal, { actor, nowMs: clock.nowMs(), isBlind: blind, texts })
      },
    }),
  ]
}

/** Who saw the decision of an open appeal before labelling it must be known. */
const revealed = ({ data }: { readonly data: readonly Schema.AppealBody[] }): AuditRecord[] =>
  data
    .filter(({ blind, may_review: mayReview }) => !blind && mayReview)
    .map(({ id, event_id: eventId }) => ({ kind: 'appeal.revealed', resourceId: id, details: { event_id: eventId } }))

/** Who read which texts must be known. */
const textRead = ({ text, request_id: requestId }: Schema.AppealBody): AuditRecord[] =>
  text === null || requestId === null
    ? []
    : [{ kind: 'audit.content.read', resourceId: requestId, details: { level: 'appeal' } }]

async function requirePolicy(
  stores: Pick<AppealReads, 'policies'>,
  organizationId: string,
  policyId: string,
): Promise<void> {
  try {
    await findPolicy(stores.policies, organizationId, policyId)
  } catch (error) {
    if (!isFault(error) || error.kind !== 'not_found') throw error
    throw invalidField(['policy_id'], 'must name a policy of the organization')
  }
}
