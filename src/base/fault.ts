/**
 * The one way to say no. The domain throws kinds; only the endpoint families know statuses and shapes.
 * Whatever is thrown and is not a Fault is our bug, and tells the caller nothing.
 */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly code: FaultCode
  readonly details: FaultDetails

  /** `message` is for the caller, `details.cause` for the log alone. */
  constructor(kind: FaultKind, code: FaultCode, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.kind = kind
    this.code = code
    this.details = details
  }
}

/** What makes up a fault, for subclasses that add to it. */
export type FaultFields = Pick<Fault, 'kind' | 'code' | 'message'> & Partial<Pick<Fault, 'details'>>

export type FaultKind =
  | 'malformed' // not even readable: bad JSON, bad header, bad cursor
  | 'validation' // readable, but a field is wrong
  | 'auth'
  | 'billing'
  | 'permission'
  | 'not_found'
  | 'method'
  | 'timeout' // the caller took too long to send or to read
  | 'conflict'
  | 'too_large'
  | 'rate_limit'
  | 'moderation'
  | 'policy'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'upstream_overloaded'
  | 'unavailable' // a part of ours is down, or we are stopping
  | 'internal'

export type FaultDetails = {
  /** The field at fault, as the caller wrote it: `project_ids[3]`. */
  readonly param?: string
  /** The option at fault, where callers send it beside the body: `http` knows the header that carries it. */
  readonly option?: RequestOption
  /** What is wrong with the credential, where the caller can send another one. */
  readonly credential?: 'missing' | 'invalid'
  readonly retryAfterSeconds?: number
  /** The same request fails again however long the caller waits, although other faults of this kind pass. */
  readonly isPermanent?: true
  /** Every problem of a body, where the family lists them all. */
  readonly problems?: readonly Problem[]
  /** The `policy` object of a block: which rule decided what, and the audit event that tells more. */
  readonly policy?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** Options of a request that are no fields of its body. */
export type RequestOption = 'idempotency_key' | 'expected_version' | 'policy_id'

export type Problem = {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly type: string
  /** What stood there, where it is short enough to repeat. */
  readonly input?: string | number | boolean
}

/** Every code with the sentence of its manual; `docs/errors.md` is generated from this table. */
export const faultCodes = {
  invalid_json: 'The body is not a JSON object in UTF-8, is nested too deeply, or holds a forbidden key or character.',
  invalid_content_type: 'The body must be sent as `application/json`.',
  invalid_parameter:
    'A field, query or path parameter is missing, unknown, of the wrong type or out of bounds; `param` names it.',
  invalid_header: 'A header is repeated, contradicts another, or has a value that is not allowed.',
  invalid_cursor: '`after` names nothing in this organization.',
  invalid_request: 'The request is not valid HTTP.',
  request_timeout: 'The request was not sent in time.',
  response_not_read: 'The caller did not read its stream in time; what was generated until then is charged.',
  body_too_large: 'The body is over the limit of this endpoint.',
  headers_too_large: 'The request line and headers together are over 16 KiB.',
  invalid_api_key: 'The key or token is missing, unknown, expired or revoked.',
  too_many_auth_failures:
    'The key or token is invalid, and too many invalid ones came from this address in the last minute; correct it, or wait for `Retry-After`. Where errors have OpenAI’s form, the code is `rate_limit_exceeded`.',
  free_request_used: 'The single anonymous free request of this client, or of today, is used up. Sign up to continue.',
  permission_denied: 'The credential is valid but lacks the permission that the operation needs.',
  ip_not_allowed: 'The key is valid, but its `allowed_ips` do not hold the address that the request came from.',
  model_not_allowed: 'This key may not use this model.',
  project_mismatch: '`X-Policy-Project` names another project than the key’s own.',
  not_found: 'Nothing by this id exists in the credential’s organization.',
  unknown_route: 'No endpoint lives at this path.',
  method_not_allowed: 'The path exists, but not with this method; `Allow` lists those it has.',
  already_set_up: 'The database holds an organization already; setup is for an empty one.',
  revision_conflict: 'The policy was changed since the revision that the request names; read it again.',
  stale_configuration:
    'The gateway configuration was saved since the `updated_at` that `If-Match` names; read it again.',
  revision_exhausted: 'The policy has reached the last revision there is; create a new one in its place.',
  invalid_state: 'The operation does not fit the state that the resource is in.',
  no_unpublished_changes: 'The draft is the same as the current version: there is nothing to publish.',
  sink_limit_reached: 'The organization has as many export sinks as it may have.',
  last_admin_key:
    'The last administrator key with the permission `*` cannot be revoked through the API; create another one first.',
  no_projects: 'A policy whose scope is `projects` cannot be published without any.',
  idempotency_key_reused: 'This `Idempotency-Key` was used with another request in the last 24 hours.',
  idempotency_in_progress:
    'A request with this `Idempotency-Key` is still running; ask again after `Retry-After` for its answer.',
  rate_limit_exceeded: 'A rate limit is exceeded; wait for `Retry-After`. The headers name the limit and its scope.',
  moderation_blocked:
    'The text falls into a category that is blocked: always, or because the request asked for it. `policy` says which.',
  policy_blocked: 'A rule of the organization forbids it; `policy` names the rule and the event in the audit log.',
  model_not_found: 'No model of this name is in the catalogue.',
  upstream_error: 'The model’s upstream failed or answered with something that is no answer.',
  upstream_rejected:
    'The model’s upstream refused the request; its reason is in the message, unless a rule forbids that text in answers.',
  context_length_exceeded:
    'The request, or the request and the answer that it asks for, is longer than the model’s context; send less.',
  upstream_timeout: 'The model’s upstream did not answer in time.',
  upstream_overloaded: 'The model’s upstream is overloaded or limits us; try again later.',
  unsupported_parameter: 'The request asks for something that the model’s upstream cannot do.',
  insufficient_credits:
    'The organization’s credits do not cover what the request may cost; the fix is to add some, or to ask for less.',
  credit_balance_unavailable: 'The credits cannot be read or charged right now; wait for `Retry-After`.',
  audit_unavailable:
    'The audit log cannot be written, and nothing may happen that it does not tell of; ask again after `Retry-After`.',
  storage_unavailable:
    'The database cannot be reached; ask again after `Retry-After`. A change that was under way may have been made: repeat it with its `Idempotency-Key`.',
  storage_full: 'The disk of the database is full; nothing was changed.',
  unavailable:
    'The service is starting, stopping, lacks a part that it needs, or has too many large requests under way; ask again.',
  internal_error: 'An unexpected failure; the request id finds it in the log.',
} as const

export type FaultCode = keyof typeof faultCodes

export const isFault = (error: unknown): error is Fault => error instanceof Fault

/** The model's upstream is to blame: neither the caller nor a part of ours. */
export const isUpstreamFault = (error: unknown): error is Fault => isFault(error) && error.kind.startsWith('upstream_')

/** What anything thrown says of itself. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Anything thrown becomes a Fault; what we did not foresee says nothing to the caller. */
export function toFault(error: unknown): Fault {
  if (isFault(error)) return error
  return new Fault('internal', 'internal_error', 'Something went wrong on our side.', { cause: error })
}
