import type { Static } from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import type { Appeal } from '../../../domain/appeals/appeal.ts'
import { findAppeal, type Appeals } from '../../../domain/appeals/appeals.ts'
import type { ResolveAppeal as Resolve, ResolveStores } from '../../../domain/appeals/resolve.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { AuditRecord } from '../../../domain/mutations/audit-log.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import { isFault } from '../../../base/fault.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { presentAppeal, type AppealReads } from './present.ts'
import * as Schema from './schema.ts'

const path = '/v1/organization/appeals'
const one = `${path}/{appeal_id}`
const answer = { description: 'The appeal.', schema: Schema.AppealObject }

export type AppealRouteParts = { readonly appeals: Appeals; readonly resolve: Resolve; readonly clock: Clock }

type Stores = AppealReads & ResolveStores

/** Appeals against decisions on requests, and the reviews of them. */
export function appealRoutes({ read, mutation }: AdminRoutes<Stores>, parts: AppealRouteParts): Route[] {
  const { appeals, resolve, clock } = parts
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
        const filter = { ...(state !== undefined && { state }), ...(policyId !== undefined && { policyId }) }
        const { items, ...rest } = await stores.appeals.list(actor.organization.id, filter, pageOf(page), nowMs)
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
        return presented(stores, await appeals.openByAdministrator(stores, input), actor)
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
        const appeal = await findAppeal(stores.appeals, at(actor, params))
        const texts = include === 'content' ? 'shown' : 'known'
        return presentAppeal(stores, appeal, { actor, nowMs: clock.nowMs(), isBlind: blind, texts })
      },
    }),
    mutation({
      name: 'reviewAppeal',
      method: 'POST',
      path: `${one}/review`,
      summary: 'Label the text of an appeal',
      description:
        'Says whether the rule should match the text, once for each person and not by who opened the appeal. The answer shows the decision. If two people disagree, a third one has to label it (`needs_third`).',
      permission: 'reviews:write',
      params: Schema.AppealParams,
      query: none,
      body: Schema.ReviewAppeal,
      answer,
      operation: async (stores, { actor, params, body: { should, note = null } }) =>
        presented(stores, await appeals.review(stores, at(actor, params), { by: actor.id, should, note }), actor),
      present: (body) => body,
    }),
    mutation({
      name: 'resolveAppeal',
      method: 'POST',
      path: `${one}/resolve`,
      summary: 'Close an appeal',
      description:
        'As overturned or upheld, which must be what the labels say, or as dismissed. In the same transaction the text can become a case of the policy, and the draft can be changed, which needs the permission `policies:write`.',
      permission: 'reviews:write',
      params: Schema.AppealParams,
      query: none,
      body: Schema.ResolveAppeal,
      answer,
      async operation(stores, { actor, params, body }) {
        const { outcome, reason = null, case: newCase, draft, revision } = body
        if (draft !== undefined) requirePermission(actor.permissions, 'policies:write')
        const { value, ...audit } = await resolve(stores, at(actor, params), {
          by: actor.id,
          outcome,
          reason,
          newCase: newCase && caseOf(newCase),
          draft: draft && { patch: patchOf(draft), revision: requireRevision(revision) },
        })
        const { appeal, draftRevision } = value
        const shown = { actor, nowMs: clock.nowMs(), isBlind: true, texts: 'known', draftRevision } as const
        return { ...audit, value: await presentAppeal(stores, appeal, shown) }
      },
      present: (body) => body,
    }),
  ]

  async function presented<Rest>(
    stores: Stores,
    { value, ...rest }: Rest & { readonly value: Appeal },
    actor: Parameters<typeof presentAppeal>[2]['actor'],
  ) {
    const shown = { actor, nowMs: clock.nowMs(), isBlind: true, texts: 'known' } as const
    return { ...rest, value: await presentAppeal(stores, value, shown) }
  }
}

const at = (actor: { readonly organization: { readonly id: string } }, params: { readonly appeal_id: string }) => ({
  organizationId: actor.organization.id,
  id: params.appeal_id,
})

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

async function requirePolicy(stores: Stores, organizationId: string, policyId: string): Promise<void> {
  try {
    await findPolicy(stores.policies, organizationId, policyId)
  } catch (error) {
    if (!isFault(error) || error.kind !== 'not_found') throw error
    throw invalidField(['policy_id'], 'must name a policy of the organization')
  }
}

function requireRevision(revision: number | undefined): number {
  if (revision === undefined) throw invalidField(['revision'], 'is required with draft: the revision of the policy')
  return revision
}

type Resolution = Static<typeof Schema.ResolveAppeal>

const caseOf = (newCase: NonNullable<Resolution['case']>) =>
  newCase === true
    ? { says: undefined, weight: 'must' as const }
    : { says: newCase.says, weight: newCase.weight ?? ('must' as const) }

const patchOf = ({ rule, match_threshold_basis_points: threshold }: NonNullable<Resolution['draft']>) => ({
  ...(rule !== undefined && { rule }),
  ...(threshold !== undefined && { matchThresholdBasisPoints: threshold }),
})
