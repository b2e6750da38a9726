import type { FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Fault } from '../../base/fault.ts'
import type { Actor, WithAuditRecord } from '../../domain/identity/audit-log.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import { doOnce, type IdempotencyStore, type StoredReply } from '../../domain/identity/idempotency.ts'
import { requirePermission, type Permission } from '../../domain/identity/permissions.ts'
import type { Administrator, Principal } from '../../domain/identity/principal.ts'
import { pathOf } from '../family.ts'
import { IdempotencyHeaders, repeatableRequest } from './idempotency-key.ts'
import { ConditionalHeaders } from './if-match.ts'
import type { Credential, Route, RouteAnswer } from '../route.ts'
import { createQueryValidator, createValidator } from '../validate.ts'
import { none } from './fields.ts'
import { withCursorRefusal } from './list.ts'
import { enter, type LimitParts } from './limit.ts'

const defaultBodyLimitBytes = 256 * 1024

/** Who may manage something: an administrator, and in the gateway whoever has a key of a project. */
export type Manager = Administrator | Principal

export type ManagedParts<Who extends Manager, Stores, Reads = Stores> = LimitParts & {
  /** Finds out who asks. */
  readonly whoAsks: (request: FastifyRequest) => MaybePromise<Who>
  readonly credential: Credential
  /** What is asked outside of any transaction: all of the stores, and what is never changed. */
  readonly reads: Reads
  readonly administer: AuditedMutation<Stores>
}

/** What a request says, in the path, behind it, and in its body; `none` where it says nothing. */
type Said<Params, Query, Body> = { readonly params: Params; readonly query: Query; readonly body: Body }

type Described = {
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly permission: Permission
  readonly answer: RouteAnswer
}

/** What an operation is given: who asks, and what they say. */
type Input<Who, Params extends TObject, Query extends TObject, Body extends TObject> = {
  readonly who: Who
} & Said<Static<Params>, Static<Query>, Static<Body>>

/** What must still be so for a change to happen. */
type Condition = { readonly ifMatch: string | undefined }

type Question<Who, Reads, Params extends TObject, Query extends TObject> = Described &
  Omit<Said<Params, Query, never>, 'body'> & {
    readonly operation: (reads: Reads, input: Input<Who, Params, Query, typeof none>) => Promise<unknown>
  }

type Enquiry<Who, Reads, Body extends TObject> = Described & {
  readonly body: Body
  readonly operation: (reads: Reads, input: Input<Who, typeof none, typeof none, Body>) => Promise<unknown>
}

type Change<Who, Stores, Params extends TObject, Query extends TObject, Body extends TObject, T> = Described &
  Said<Params, Query, Body> & {
    readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    readonly takesIfMatch?: true
    readonly bodyLimitBytes?: number
    readonly status?: 200 | 201
    readonly operation: (
      stores: Stores,
      input: Input<Who, Params, Query, Body> & Condition,
    ) => Promise<WithAuditRecord<T>>
    readonly present: (value: T) => unknown
    readonly headers?: (value: T) => Readonly<Record<string, string>>
  }

export type ManagedRoutes<Who extends Manager, Stores extends ManagedStores, Reads = Stores> = ReturnType<
  typeof createManagedRoutes<Who, Stores, Reads>
>

type ManagedStores = { readonly idempotency: IdempotencyStore }

/**
 * Makes routes of operations. Every request goes the same way: who asks, may they ask so often, may they do this, is it
 * well said; a change then happens once, in one transaction with its audit row and the answer that a retry will get.
 */
export function createManagedRoutes<Who extends Manager, Stores extends ManagedStores, Reads>(
  parts: ManagedParts<Who, Stores, Reads>,
) {
  return {
    /** For a route that is made by hand: runs its change, once for each Idempotency-Key. */
    perform,

    question<Params extends TObject, Query extends TObject>(spec: Question<Who, Reads, Params, Query>): Route {
      const read = reader({ ...spec, body: none })
      return {
        ...describe(spec, parts.credential),
        method: 'GET',
        answers: { 200: spec.answer },
        refusals: [400, 401, 403, ...(spec.params === none ? [] : [404]), 422, 429, 500, 503],
        async handle(request) {
          const who = await parts.whoAsks(request)
          using _place = enter(parts, who)
          requirePermission(who.permissions, spec.permission)
          return await spec.operation(parts.reads, { who, ...read(request) })
        },
      }
    },

    /** A question that does not fit into an address. */
    enquiry<Body extends TObject>(spec: Enquiry<Who, Reads, Body>): Route {
      const said = { ...spec, params: none, query: none }
      const read = reader(said)
      return {
        ...describe(said, parts.credential),
        method: 'POST',
        bodyLimitBytes: defaultBodyLimitBytes,
        body: spec.body,
        answers: { 200: spec.answer },
        refusals: [400, 401, 403, 413, 422, 429, 500, 503],
        async handle(request) {
          const who = await parts.whoAsks(request)
          using _place = enter(parts, who)
          requirePermission(who.permissions, spec.permission)
          return await spec.operation(parts.reads, { who, ...read(request) })
        },
      }
    },

    change<Params extends TObject, Query extends TObject, Body extends TObject, T>(
      spec: Change<Who, Stores, Params, Query, Body, T>,
    ): Route {
      const { status = 200, bodyLimitBytes = defaultBodyLimitBytes } = spec
      const read = reader(spec)
      return {
        ...describe(spec, parts.credential),
        method: spec.method,
        bodyLimitBytes,
        headers: spec.takesIfMatch ? ConditionalHeaders : IdempotencyHeaders,
        ...(spec.body === none ? {} : { body: spec.body }),
        answers: { [status]: spec.answer },
        refusals: [400, 401, 403, ...(spec.params === none ? [] : [404]), 409, 413, 422, 429, 500, 503],
        async handle(request, reply) {
          const who = await parts.whoAsks(request)
          using _place = enter(parts, who)
          requirePermission(who.permissions, spec.permission)
          const input = { who, ifMatch: request.headers['if-match'], ...read(request) }
          const answer = await perform(request, who, async (stores) => {
            const { value, ...rest } = await spec.operation(stores, input)
            return { ...rest, value: { status, headers: spec.headers?.(value) ?? {}, body: spec.present(value) } }
          })
          reply.code(answer.status).headers(answer.headers)
          return answer.body
        },
      }
    },
  }

  function perform(request: FastifyRequest, who: Who, work: Work<Stores>): Promise<StoredReply> {
    const organizationId = who.organization.id
    const once = repeatableRequest(request, { organizationId, credentialId: who.id, nowMs: parts.clock.nowMs() })
    return parts.administer(actorOf(request, who), (stores) =>
      once === undefined ? work(stores) : doOnce(stores.idempotency, once, () => work(stores)),
    )
  }
}

type Work<Stores> = (stores: Stores) => Promise<WithAuditRecord<StoredReply>>

/** Who makes a change, as the audit log names them. */
export const actorOf = (request: FastifyRequest, who: Manager): Actor => ({
  organizationId: who.organization.id,
  kind: who.kind,
  credentialId: who.id,
  requestId: request.id,
  call: {
    method: request.method,
    path: pathOf(request.url),
    address: request.ip,
    userAgent: request.headers['user-agent'],
  },
})

function describe(
  { path, summary, description, permission, params, query }: Described & Omit<Said<TObject, TObject, never>, 'body'>,
  credential: Credential,
) {
  const needs = `Needs the permission \`${permission}\`.`
  return {
    path,
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    credential,
    params,
    query,
  } as const
}

/** Reads all that a request says, as its schemas want it. */
function reader<Params extends TObject, Query extends TObject, Body extends TObject>(said: Said<Params, Query, Body>) {
  const readParams = createQueryValidator(said.params)
  const readQuery = withCursorRefusal(createQueryValidator(said.query))
  const readBody = createValidator(said.body)
  const mayBeSilent = Object.keys(said.body.properties).length === 0
  return (request: FastifyRequest) => ({
    params: readParams(request.params),
    query: readQuery(request.query),
    body: readBody(request.body ?? (mayBeSilent ? {} : missingBody())),
  })
}

function missingBody(): never {
  throw new Fault('malformed', 'invalid_json', 'The body must be a JSON object.')
}
