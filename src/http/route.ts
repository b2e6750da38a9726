import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import type { Fault } from '../base/fault.ts'
import type { Permission } from '../domain/identity/permissions.ts'
import type { LimitStatus } from '../domain/limits/status.ts'
import type { GatewayHeaderName } from './gateway-headers.ts'

/**
 * An endpoint as data: the server registers it, OpenAPI describes it, and tests walk the list.
 * Paths are written with `{name}`, as they are documented.
 */
export type Route = {
  /** The operation's name in clients, unique and in camel case: `listPolicies`, `publishPolicy`. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly credential: Credential
  /** The credential in the examples of the reference, if not every one can have the permissions that the route needs. */
  readonly exampleCredential?: Credential
  /** What the credential must be allowed to do. */
  readonly permission?: Permission
  /** Left out of the OpenAPI description and the reference: pages of the console, and what only browsers call. */
  readonly isUndescribed?: true
  /** The call in the vendor's SDK that sends this request, for the examples of the reference. */
  readonly sdk?: SdkCall
  readonly bodyLimitBytes?: number
  readonly params?: TSchema
  readonly query?: TSchema
  readonly headers?: TSchema
  readonly body?: TSchema
  readonly answers: Readonly<Record<number, RouteAnswer>>
  /** Statuses in the family's error format. */
  readonly errorStatuses?: readonly number[]
  /** Of these, the statuses with a format of their own. */
  readonly errorSchemas?: Readonly<Record<number, TSchema>>
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  /**
   * Called when the body of a request cannot be read, so that `handle` is not called. Returns the status of the caller's
   * limits for the error response; a fault that it throws is sent instead.
   */
  readonly onRejectedBody?: (request: FastifyRequest) => Promise<LimitStatus | undefined>
}

export type Credential = 'none' | 'api_key' | 'api_key_or_free' | 'admin_key' | 'gateway' | 'operator'

/** `method` as in JavaScript: `messages.countTokens`. Python has the same names in snake case. */
export type SdkCall = { readonly vendor: 'anthropic' | 'openai'; readonly method: string }

export type RouteAnswer = {
  readonly description: string
  readonly schema?: TSchema
  readonly contentType?: string
  /** The data of one server-sent event, if the answer may be a stream instead. */
  readonly event?: TSchema
  /** The example of this answer, if another one than that of its schema is clearer. */
  readonly example?: unknown
  /** Those of Gatehouse's own headers that it may carry. */
  readonly headers?: readonly GatewayHeaderName[]
}

export type ErrorResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The families without routes that are left out of descriptions. */
export const describedFamilies = (families: readonly EndpointFamily[]): EndpointFamily[] =>
  families
    .map((family) => ({ ...family, routes: family.routes.filter(({ isUndescribed }) => isUndescribed !== true) }))
    .filter(({ routes }) => routes.length > 0)

/** Endpoints that share an error format. */
export type EndpointFamily = {
  readonly name: string
  /** What the endpoints are for, for OpenAPI. */
  readonly description: string
  /** Paths with these prefixes belong to the family, also those without a route. */
  readonly prefixes: readonly string[]
  readonly routes: readonly Route[]
  /** `path`, because one endpoint of a family may have a format of its own. */
  readonly encodeError: (fault: Fault, requestId: string, path: string) => ErrorResponse
  /** The error format, for OpenAPI. */
  readonly errorSchema: TSchema
  /** Whether its bodies are forms of pages in place of JSON. */
  readonly takesForms?: true
  /** Whether responses also name the request in `request-id`. */
  readonly hasRequestIdHeader?: true
}
