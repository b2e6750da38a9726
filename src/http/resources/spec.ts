import type { FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { AuditRecord, WithAuditRecord } from '../../domain/mutations/audit-log.ts'
import type { IdempotencyStore } from '../../domain/mutations/idempotency.ts'
import type { OwnershipStore } from '../../domain/mutations/ownership.ts'
import type { Permission } from '../../domain/identity/permissions.ts'
import type { Administrator, Principal } from '../../domain/identity/principal.ts'
import type { Credential, RouteAnswer } from '../route.ts'
import type { none } from './fields.ts'
import type { ResourceLimitParts } from './limit.ts'
import type { ManagedResource, RemovedResource } from './managed-by.ts'
import type { RequestInput } from './request-input.ts'

/** A caller of a resource endpoint: an administrator, or in the policy gateway also a principal of a project. */
export type ResourceActor = Administrator | Principal

/** Where a family of resource endpoints is served: who calls it, and within which limits. */
export type Surface<TActor extends ResourceActor> = ResourceLimitParts & {
  readonly authenticate: (request: FastifyRequest) => MaybePromise<TActor>
  readonly credential: Credential
  /** Whether the server has begun to stop. */
  readonly isShuttingDown: () => boolean
}

/** Where keys of projects call. */
export type CallerSurface = Surface<Principal>

export type Described = {
  readonly name: string
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Without it, every credential of the family is enough. */
  readonly permission?: Permission
  /** Also admits the caller. Then the operation checks which fields each permission allows. */
  readonly orPermission?: Permission
  readonly answer: RouteAnswer
}

/** The input of an operation. */
type Input<TActor, Params extends TObject, Query extends TObject, Body extends TObject> = {
  readonly actor: TActor
} & RequestInput<Static<Params>, Static<Query>, Static<Body>>

/** The same, with the media types that the caller accepts. */
type ReadInput<TActor, Params extends TObject, Query extends TObject> = Input<TActor, Params, Query, typeof none> & {
  readonly accept: string | undefined
}

/** The precondition of a mutation. */
type Condition = { readonly ifMatch: string | undefined }

export type ReadSpec<TActor, Reads, Params extends TObject, Query extends TObject, Result> = Described &
  Omit<RequestInput<Params, Query, never>, 'body'> & {
    readonly operation: (reads: Reads, input: ReadInput<TActor, Params, Query>) => Promise<Result>
    /** Reads what may take seconds, so only some run at once for each organization. A function: with some queries. */
    readonly isReport?: true | ((query: Static<Query>) => boolean)
    /** Whether files can manage the resources in the response, which then has their owners. */
    readonly isManaged?: true
    /** The `ETag` of the response. A request that names it gets 304. */
    readonly tag?: (body: Result) => string
    /** The audit records of a read that must not stay unseen. They are durable before the response is sent. */
    readonly record?: (body: Result) => AuditRecord | readonly AuditRecord[] | undefined
  }

export type QuerySpec<TActor, Reads, Params extends TObject, Body extends TObject> = Described & {
  readonly params: Params
  readonly body: Body
  readonly bodyLimitBytes?: number
  /** Reads what may take seconds, so only some run at once for each organization. */
  readonly isReport?: true
  readonly operation: (reads: Reads, input: Input<TActor, Params, typeof none, Body>) => Promise<unknown>
}

export type MutationSpec<
  TActor,
  Stores,
  Reads,
  Params extends TObject,
  Query extends TObject,
  Body extends TObject,
  Prepared,
  T,
> = Described &
  RequestInput<Params, Query, Body> & {
    readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    readonly takesIfMatch?: true
    /** For resources that files can manage: the request may name their owner, and the response has it. */
    readonly managed?: (value: T) => ManagedResource
    /** For the deletion of such resources: the request may name the only owner that it applies to. */
    readonly removes?: (value: T) => RemovedResource
    /** Describes the body in place of `body`, which only validates it then. */
    readonly documentedBody?: TSchema
    readonly bodyLimitBytes?: number
    readonly status?: 200 | 201
    /**
     * Runs before the transaction, for calls that must not run inside it, such as name lookups. It returns problems
     * for the operation to throw. It does not run for a retry with the same Idempotency-Key, which gets the stored response.
     */
    readonly prepare?: (reads: Reads, input: Input<TActor, Params, Query, Body>) => Promise<Prepared>
    readonly operation: (
      stores: Stores,
      input: Input<TActor, Params, Query, Body> & Condition & { readonly prepared: Prepared | undefined },
    ) => Promise<WithAuditRecord<T>>
    readonly present: (value: T) => unknown
    /** Reads in the transaction of the mutation. */
    readonly headers?: (value: T, stores: Stores) => MaybePromise<Readonly<Record<string, string>>>
    /** The `ETag` of the response, for the next conditional request. */
    readonly tag?: (value: T) => string
  }

/** The stores that every mutation has. */
export type ResourceStores = { readonly idempotency: IdempotencyStore; readonly ownership: OwnershipStore }
