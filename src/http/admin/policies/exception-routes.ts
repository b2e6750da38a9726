import type { Static } from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import { textDigest, type ExceptionSubject } from '../../../domain/exceptions/exception.ts'
import { findException, type Exceptions, type ExceptionStores } from '../../../domain/exceptions/exceptions.ts'
import type { DeniedTexts, FindDeniedTexts } from '../../../domain/explanation/denied-texts.ts'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import type { AuditReads } from '../../../domain/audit/log.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { findPolicy } from '../../../domain/policy/mutations.ts'
import { none } from '../../resources/fields.ts'
import { listQuery, pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads, AdminRoutes } from '../routes.ts'
import { ownerOf } from './case-routes.ts'
import * as Schema from './exception-schema.ts'
import { PolicyParams } from './schema.ts'

const path = '/v1/organization/policies/{policy_id}/exceptions'
const one = `${path}/{exception_id}`
const answer = { description: 'The exception.', schema: Schema.ExceptionObject }

export type ExceptionRouteStores = ExceptionStores & { readonly events: Pick<AuditReads, 'find' | 'findRequest'> }

export type ExceptionRouteParts = {
  readonly exceptions: Exceptions
  readonly findDeniedTexts: FindDeniedTexts
  readonly clock: Clock
}

/** Requests for which a policy is evaluated and not enforced, until a date. */
export function exceptionRoutes(
  routes: AdminRoutes<ExceptionRouteStores>,
  { exceptions, findDeniedTexts, clock }: ExceptionRouteParts,
): Route[] {
  const { read, mutation } = routes
  const present = Schema.exceptionPresenter
  return [
    read({
      name: 'listPolicyExceptions',
      path,
      summary: 'List the exceptions of a policy',
      description: 'Also those that have ended.',
      permission: 'policies:read',
      params: PolicyParams,
      query: listQuery({}),
      answer: { description: 'A page of exceptions.', schema: Schema.ExceptionList },
      async operation(stores, { actor, params, query }) {
        const owner = ownerOf(actor, params)
        await findPolicy(stores.policies, owner.organizationId, owner.policyId)
        return presentList(await stores.exceptions.list(owner, pageOf(query)), present(clock.nowMs()))
      },
    }),
    mutation({
      name: 'createPolicyException',
      method: 'POST',
      path,
      summary: 'Make an exception from a policy',
      description:
        'The policy is still evaluated and its decision recorded, and not enforced for what the exception covers, in requests and responses. Effective within a second, until `expires_at`. A policy may have 100 live exceptions. The categories that are always blocked have none.',
      permission: 'policies:publish',
      params: PolicyParams,
      query: none,
      body: Schema.CreateException,
      status: 201,
      answer: { ...answer, description: 'The exception. The policy is not enforced for it from now on.' },
      async prepare(reads, { actor, params, body }) {
        const { event_id: eventId } = body.for
        if (Object.keys(body.for).length !== 1) throw invalidField(['for'], 'must have exactly one field')
        if (eventId === undefined) return undefined
        requirePermission(actor.permissions, 'content:read')
        const { organizationId, policyId } = ownerOf(actor, params)
        const named = await reads.events.find(organizationId, eventId)
        const { requestId = null } = named === undefined ? {} : rowOf(named.document, '')
        const event = requestId === null ? undefined : await reads.events.findRequest(organizationId, requestId)
        if (event === undefined) throw invalidField(['for', 'event_id'], 'must name the event of a request')
        return findDeniedTexts(event, await findPolicy(reads.policies, organizationId, policyId), 'for.event_id')
      },
      operation(stores, { actor, params, body, prepared }) {
        const { reason, owner = actor.id, expires_at: expiresAt } = body
        const origin = { eventId: body.for.event_id ?? null, requestId: prepared?.requestId ?? null }
        const input = { subject: subjectOf(body.for, prepared), reason, owner, ...origin }
        return exceptions.create(stores, ownerOf(actor, params), {
          ...input,
          createdBy: actor.id,
          expiresAtMs: expiresAt * 1000,
        })
      },
      present: (value) => present(clock.nowMs())(value),
    }),
    read({
      name: 'getPolicyException',
      path: one,
      summary: 'Read an exception',
      permission: 'policies:read',
      params: Schema.ExceptionParams,
      query: none,
      answer,
      operation: async (stores, { actor, params }) =>
        present(clock.nowMs())(await findException(stores, { ...ownerOf(actor, params), id: params.exception_id })),
    }),
    mutation({
      name: 'endPolicyException',
      method: 'DELETE',
      path: one,
      summary: 'End an exception early',
      description: 'The policy is enforced again within a second. The exception can still be read.',
      permission: 'policies:publish',
      params: Schema.ExceptionParams,
      query: none,
      body: none,
      answer,
      operation: (stores, { actor, params }) =>
        exceptions.end(stores, { ...ownerOf(actor, params), id: params.exception_id }, actor.id),
      present: (value) => present(clock.nowMs())(value),
    }),
    liveExceptionsRoute(routes, clock),
  ]
}

/** Of all policies. There are few, so they are one page. */
const liveExceptionsRoute = ({ read }: AdminReads<ExceptionRouteStores>, clock: Clock): Route =>
  read({
    name: 'listLiveExceptions',
    path: '/v1/organization/exceptions',
    summary: 'List the live exceptions of all policies',
    description: 'All of them, the one that ends first is the first.',
    permission: 'policies:read',
    params: none,
    query: none,
    answer: { description: 'The exceptions.', schema: Schema.ExceptionList },
    async operation(stores, { actor }) {
      const nowMs = clock.nowMs()
      const items = await stores.exceptions.listLive(actor.organization.id, nowMs)
      return presentList({ items, hasMore: false }, Schema.exceptionPresenter(nowMs))
    },
  })

function subjectOf(
  body: Static<typeof Schema.CreateException>['for'],
  denied: DeniedTexts | undefined,
): ExceptionSubject {
  if (body.project_id !== undefined) return { kind: 'project', id: body.project_id }
  if (body.user !== undefined) return { kind: 'user', id: body.user }
  if (body.key_id !== undefined) return { kind: 'key', id: body.key_id }
  if (body.text !== undefined) return { kind: 'text', digests: [textDigest(body.text)] }
  return { kind: 'text', digests: denied?.digests ?? body.text_digests ?? [] }
}
