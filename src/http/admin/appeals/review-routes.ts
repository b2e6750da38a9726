import type { Static } from 'typebox'
import { deniedTextsOf } from '../../../domain/appeals/exception-of-appeal.ts'
import type { ResolveAppeal as Resolve, ResolveStores } from '../../../domain/appeals/resolve.ts'
import type { FindDeniedTexts } from '../../../domain/explanation/denied-texts.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { appealAt, presentChanged, type AppealReads } from './present.ts'
import type { AppealRouteParts } from './routes.ts'
import * as Schema from './schema.ts'

const one = '/v1/organization/appeals/{appeal_id}'
const answer = { description: 'The appeal.', schema: Schema.AppealObject }

type ReviewRouteParts = AppealRouteParts & { readonly resolve: Resolve; readonly findDeniedTexts: FindDeniedTexts }

/** What people say about an appeal, and how it is closed. */
export function reviewRoutes(
  { mutation }: AdminRoutes<AppealReads & ResolveStores>,
  { appeals, resolve, findDeniedTexts, clock }: ReviewRouteParts,
): Route[] {
  return [
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
        presentChanged(stores, await appeals.review(stores, appealAt(actor, params), { by: actor.id, should, note }), {
          actor,
          nowMs: clock.nowMs(),
        }),
      present: (body) => body,
    }),
    mutation({
      name: 'resolveAppeal',
      method: 'POST',
      path: `${one}/resolve`,
      summary: 'Close an appeal',
      description:
        'As overturned or upheld, which must be what the labels say, or as dismissed. In the same transaction the text can become a case of the policy, the draft can be changed, which needs the permission `policies:write`, and the policy can get an exception.',
      permission: 'reviews:write',
      params: Schema.AppealParams,
      query: none,
      body: Schema.ResolveAppeal,
      answer,
      async prepare(reads, { actor, params, body: { exception } }) {
        if (exception?.for !== 'text') return undefined
        requirePermission(actor.permissions, 'policies:publish')
        requirePermission(actor.permissions, 'content:read')
        return deniedTextsOf(reads, appealAt(actor, params), findDeniedTexts)
      },
      async operation(stores, { actor, params, body, prepared: denied }) {
        const { outcome, reason = null, case: newCase, draft, revision, exception } = body
        if (exception !== undefined) requirePermission(actor.permissions, 'policies:publish')
        if (draft !== undefined) requirePermission(actor.permissions, 'policies:write')
        const { value, ...audit } = await resolve(stores, appealAt(actor, params), {
          by: actor.id,
          outcome,
          reason,
          newCase: newCase && caseOf(newCase),
          draft: draft && { patch: patchOf(draft), revision: requireRevision(revision) },
          exception: exception && {
            of: exception.for,
            denied,
            reason: exception.reason,
            expiresAtMs: exception.expires_at * 1000,
          },
        })
        const { appeal, ...made } = value
        const shown = { actor, nowMs: clock.nowMs(), ...made }
        return presentChanged(stores, { ...audit, value: appeal }, shown)
      },
      present: (body) => body,
    }),
  ]
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
