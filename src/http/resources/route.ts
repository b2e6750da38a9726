import type { FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { Actor, WithAuditRecord } from '../../domain/mutations/audit-log.ts'
import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import { createPrepareOnce, doOnce } from '../../domain/mutations/idempotency.ts'
import { operatorActor } from '../../domain/identity/operator.ts'
import { requirePermission } from '../../domain/identity/permissions.ts'
import { pathOf } from '../family.ts'
import { EncodedBody } from '../encoded-body.ts'
import { repeatableRequest } from './idempotency-key.ts'
import type { Credential, Route, RouteAnswer } from '../route.ts'
import { isUnchanged, TagHeaders } from './entity-tag.ts'
import { none } from './fields.ts'
import { admitReport, admitRequest } from './limit.ts'
import { mutationHeaders, ownedResult, presentOwners } from './managed-by.ts'
import { createRequestReader, type RequestInput } from './request-input.ts'
import type { ResourceActor, Surface, Described, ReadSpec, QuerySpec, MutationSpec, ResourceStores } from './spec.ts'

const defaultBodyLimitBytes = 256 * 1024

const notModified: RouteAnswer = { description: 'Nothing has changed since the `ETag` in `If-None-Match`.' }

type ResourceParts<TActor extends ResourceActor, Stores, Reads = Stores> = Omit<Surface<TActor>, 'isShuttingDown'> & {
  /** Stores for reads outside of a transaction. */
  readonly reads: Reads
  readonly mutate: AuditedMutation<Stores>
}

export type ResourceRoutes<
  TActor extends ResourceActor,
  Stores extends ResourceStores,
  Reads extends ResourceStores = Stores,
> = ReturnType<typeof createResourceRoutes<TActor, Stores, Reads>>

/**
 * Builds routes from operations. Every request is authenticated, checked against the rate limits, authorised and
 * validated, in this order. A mutation runs in one transaction with its audit record and the stored response for retries.
 */
export function createResourceRoutes<
  TActor extends ResourceActor,
  Stores extends ResourceStores,
  Reads extends ResourceStores,
>(parts: ResourceParts<TActor, Stores, Reads>) {
  const prepareOnce = createPrepareOnce()
  return {
    /** For routes with their own handler: runs a mutation, once per Idempotency-Key. */
    perform,

    read<Params extends TObject, Query extends TObject, Result>(
      spec: ReadSpec<TActor, Reads, Params, Query, Result>,
    ): Route {
      const decode = createRequestReader({ ...spec, body: none })
      return {
        ...describe(spec, parts.credential),
        method: 'GET',
        ...(spec.tag && { headers: TagHeaders }),
        answers: { 200: spec.answer, ...(spec.tag && { 304: notModified }) },
        errorStatuses: [400, 401, 403, ...(spec.params === none ? [] : [404]), 422, 429, 500, 503],
        async handle(request, reply) {
          const actor = await parts.authenticate(request)
          using _slot = admitRequest(parts, actor)
          requirePermissionOf(actor, spec)
          const input = { actor, accept: request.headers.accept, ...decode(request) }
          using _report = isReport(spec, input.query) ? await admitReport(parts, actor, reply) : undefined
          const found = await spec.operation(parts.reads, input)
          const body = spec.isManaged ? await presentOwners(parts.reads.ownership, actor.organization.id, found) : found
          const further = [spec.record?.(body) ?? []].flat()
          if (further.length > 0)
            await parts.mutate(actorOf(request, actor), async () => ({ value: undefined, further }))
          if (spec.tag && isUnchanged(request, reply, spec.tag(body))) return await reply.code(304).send()
          return body instanceof EncodedBody ? await body.sendTo(reply) : body
        },
      }
    },

    /** A read whose input does not fit into a query string. */
    query<Params extends TObject, Body extends TObject>(spec: QuerySpec<TActor, Reads, Params, Body>): Route {
      const schemas = { ...spec, query: none }
      const decode = createRequestReader(schemas)
      return {
        ...describe(schemas, parts.credential),
        method: 'POST',
        bodyLimitBytes: spec.bodyLimitBytes ?? defaultBodyLimitBytes,
        body: spec.body,
        answers: { 200: spec.answer },
        errorStatuses: [400, 401, 403, ...(spec.params === none ? [] : [404]), 413, 422, 429, 500, 503],
        async handle(request, reply) {
          const actor = await parts.authenticate(request)
          using _slot = admitRequest(parts, actor)
          requirePermissionOf(actor, spec)
          using _report = spec.isReport && (await admitReport(parts, actor, reply))
          return await spec.operation(parts.reads, { actor, ...decode(request) })
        },
      }
    },

    mutation<Params extends TObject, Query extends TObject, Body extends TObject, Prepared, T>(
      spec: MutationSpec<TActor, Stores, Reads, Params, Query, Body, Prepared, T>,
    ): Route {
      const { status = 200, bodyLimitBytes = defaultBodyLimitBytes, prepare } = spec
      const decode = createRequestReader(spec)
      return {
        ...describe(spec, parts.credential),
        method: spec.method,
        bodyLimitBytes,
        headers: mutationHeaders(spec),
        ...(spec.body === none ? {} : { body: spec.documentedBody ?? spec.body }),
        answers: { [status]: spec.answer },
        errorStatuses: [400, 401, 403, ...(spec.params === none ? [] : [404]), 409, 413, 422, 429, 500, 503],
        async handle(request, reply) {
          const actor = await parts.authenticate(request)
          using _slot = admitRequest(parts, actor)
          requirePermissionOf(actor, spec)
          const decoded = { actor, ...decode(request) }
          const once = repeatableOf(request, actor)
          using preparation =
            prepare && (await prepareOnce(parts.reads.idempotency, once, () => prepare(parts.reads, decoded)))
          const input = { ...decoded, ifMatch: request.headers['if-match'], prepared: preparation?.result }
          const answer = await perform(request, actor, async (stores) => {
            const done = await spec.operation(stores, input)
            const { value, body, ...rest } = await ownedResult(stores.ownership, done, { request, actor, ...spec })
            const headers = { ...(await spec.headers?.(value, stores)), ...(spec.tag && { etag: spec.tag(value) }) }
            return { ...rest, value: { status, headers, body } }
          })
          reply.code(answer.status).headers(answer.headers)
          return answer.body
        },
      }
    },
  }

  function perform(request: FastifyRequest, actor: TActor, work: Work<Stores>): Promise<MutationReply> {
    const once = repeatableOf(request, actor)
    return parts.mutate(actorOf(request, actor), async (stores) => {
      if (once === undefined) return work(stores)
      const { value, ...audit } = await doOnce(stores.idempotency, once, () => work(stores))
      return { ...audit, value: value.isReplayed ? asReplay(value.reply) : value.reply }
    })
  }

  function repeatableOf(request: FastifyRequest, actor: TActor) {
    const organizationId = actor.organization.id
    return repeatableRequest(request, { organizationId, credentialId: actor.id, nowMs: parts.clock.nowMs() })
  }
}

/** The reply to a mutation, as it is stored for retries with the same Idempotency-Key. */
type MutationReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

type Work<Stores> = (stores: Stores) => Promise<WithAuditRecord<MutationReply>>

const asReplay = (reply: MutationReply): MutationReply => ({
  ...reply,
  headers: { ...reply.headers, 'idempotent-replayed': 'true' },
})

/** The actor of a mutation, in the form of the audit log. */
export function actorOf(request: FastifyRequest, actor: ResourceActor): Actor {
  if (actor.kind === 'operator') return operatorActor(actor.organization.id)
  return {
    organizationId: actor.organization.id,
    kind: actor.kind,
    credentialId: actor.id,
    requestId: request.id,
    call: {
      method: request.method,
      path: pathOf(request.url),
      address: request.ip,
      userAgent: request.headers['user-agent'],
    },
  }
}

const isReport = <Query>({ isReport: is }: { isReport?: true | ((query: Query) => boolean) }, query: Query): boolean =>
  typeof is === 'function' ? is(query) : is === true

function requirePermissionOf(actor: ResourceActor, spec: Pick<Described, 'permission' | 'orPermission'>): void {
  const anyOf = [spec.permission, spec.orPermission].filter((each) => each !== undefined)
  if (anyOf.length > 0) requirePermission(actor.permissions, ...anyOf)
}

function describe(
  {
    name,
    path,
    summary,
    description,
    permission,
    orPermission,
    params,
    query,
  }: Described & Omit<RequestInput<TObject, TObject, never>, 'body'>,
  credential: Credential,
) {
  return {
    name,
    path,
    summary,
    ...(description === undefined ? {} : { description }),
    // Where either permission admits a caller, the description of the route says what each allows.
    ...(orPermission === undefined && permission !== undefined ? { permission } : {}),
    credential,
    params,
    query,
  } as const
}
