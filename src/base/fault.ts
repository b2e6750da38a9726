/**
 * The error that callers see. The domain throws a kind and a code; only the endpoint families know HTTP statuses and formats.
 * Any other thrown value is a bug, and its text is not shown to the caller.
 */
export class Fault extends Error {
  readonly kind: FaultKind
  readonly code: FaultCode
  readonly details: FaultDetails

  /** `message` is shown to the caller, `details.cause` is only logged. */
  constructor(kind: FaultKind, code: FaultCode, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'Fault'
    this.kind = kind
    this.code = code
    this.details = details
  }
}

/** The fields of a fault, for subclasses that add to them. */
export type FaultFields = Pick<Fault, 'kind' | 'code' | 'message'> & Partial<Pick<Fault, 'details'>>

export type FaultKind =
  | 'malformed' // cannot be parsed: bad JSON, bad header, bad cursor
  | 'validation' // parsed, but a field is invalid
  | 'auth'
  | 'billing'
  | 'permission'
  | 'not_found'
  | 'method'
  | 'timeout' // the caller took too long to send the request or to read the response
  | 'conflict'
  | 'too_large'
  | 'encoding' // the body is compressed in a way that is not supported
  | 'rate_limit'
  | 'moderation'
  | 'policy'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'upstream_overloaded'
  | 'unavailable' // a part of the service is down, or the service is shutting down
  | 'internal'

export type FaultDetails = {
  /** The path of the invalid field: `project_ids[3]`. */
  readonly param?: string
  /** The invalid option, if callers send it outside the body; `http` knows its header. */
  readonly option?: RequestOption
  /** What is wrong with the credential, if another one may succeed. */
  readonly credential?: 'missing' | 'invalid'
  readonly retryAfterSeconds?: number
  /** Retrying the same request always fails, although other faults of this kind are temporary. */
  readonly isPermanent?: true
  /** The upstream rejected the request without a reason, so neither the caller nor the log has one. */
  readonly isUnexplained?: true
  /** The upstream has no model of this name. */
  readonly isUnknownModel?: true
  /** Every problem of the body, for families that list them all. */
  readonly problems?: readonly Problem[]
  /** The `policy` object of a denial: the rule, its decision, and the id of the audit event. */
  readonly policy?: Readonly<Record<string, unknown>>
  /** Machine-readable facts in the vendor's own format, for families whose error body has a field for them. */
  readonly vendorDetails?: Readonly<Record<string, unknown>>
  /** The checks of a publish gate, or the conditions of a judge, that are not passed. */
  readonly checks?: readonly Readonly<Record<string, unknown>>[]
  readonly cause?: unknown
}

/** Options of a request that are not fields of its body. */
export type RequestOption = 'idempotency_key' | 'expected_version' | 'policy_id'

export type Problem = {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly type: string
  /** The invalid value; of a missing field, the object that lacks it. A long value is cut. */
  readonly input?: unknown
}

/** Every code with its description; `docs/errors.md` is generated from this table. */
export const faultCodes = {
  invalid_json:
    'The body is not a JSON object in UTF-8, is nested too deeply, or contains a forbidden key or character.',
  invalid_content_type: 'The body must be sent as `application/json`.',
  upgrade_not_supported: 'The server has no WebSocket endpoints. Use plain HTTP.',
  unsupported_encoding:
    'The `content-encoding` of the body is not supported. Send it uncompressed, or as gzip, deflate, br or zstd.',
  invalid_parameter:
    'A field, query or path parameter is missing, unknown, of the wrong type or out of bounds; `param` names it.',
  invalid_header: 'A header is repeated, contradicts another, or has a value that is not allowed.',
  invalid_cursor: '`after` is not the id of an item in this organization.',
  invalid_request: 'The request is not valid HTTP.',
  request_timeout: 'The request was not sent in time.',
  response_not_read: 'The caller did not read its stream in time; the tokens sent to it until then are charged.',
  body_too_large: 'The body is larger than this endpoint allows.',
  headers_too_large: 'The request line and headers together are larger than 16 KiB.',
  invalid_api_key: 'The key or token is missing, unknown, expired or revoked.',
  too_many_auth_failures:
    'The key or token is invalid, and this address sent too many invalid ones in the last minute. Correct it, or wait for `Retry-After`. In errors of OpenAI’s format the code is `rate_limit_exceeded`.',
  free_request_used: 'The single anonymous free request of this client, or of today, is used up. Sign up to continue.',
  permission_denied: 'The credential is valid but lacks the permission that the operation needs.',
  ip_not_allowed: 'The key is valid, but its `allowed_ips` do not include the address of the request.',
  model_not_allowed: 'This key may not use this model.',
  project_mismatch: '`X-Policy-Project` names another project than the key’s own.',
  not_found: 'The credential’s organization has no resource with this id.',
  unknown_route: 'There is no endpoint at this path.',
  method_not_allowed: 'The path exists, but not with this method; `Allow` lists the methods that it has.',
  signed_out: 'The session of this browser is unknown or has ended; sign in at `/console/`.',
  invalid_link:
    'The one-time link of the console was used before or has expired; `gatehouse console link` prints another.',
  forged_request:
    'A change with the cookie of the console came from another site; only the pages of the console may send it.',
  insecure_sign_in: 'The console accepts sign-ins over plain HTTP only on the machine itself; use HTTPS.',
  sign_in_refused:
    'The identity provider did not answer or its answer is invalid, or the user is not a member. Logged only, never returned.',
  already_set_up: 'The database already has an organization; setup works only on an empty one.',
  apply_in_progress:
    'Another `gatehouse apply` is changing the organization; run it again when that one has ended, at the latest after a minute.',
  duplicate_name:
    'Another policy, judge, upstream or model has this name. For policies and judges, upper and lower case and outer spaces make no difference.',
  revision_conflict: 'The resource was changed after the revision in the request; read it again.',
  managed_elsewhere:
    'Other files manage the resource; change it there, or take it over with `gatehouse apply --take-over`.',
  stale_configuration: 'The gateway configuration was saved after the `updated_at` in `If-Match`; read it again.',
  revision_exhausted: 'The policy has reached the highest possible revision; create a new policy in its place.',
  invalid_state: 'The resource is in a state that does not allow this operation.',
  no_unpublished_changes: 'The draft is the same as the current version, so there is nothing to publish.',
  sink_limit_reached: 'The organization already has the maximum number of export sinks.',
  model_limit_reached: 'The organization already has the maximum number of upstreams or models.',
  upstream_in_use: 'Models use the upstream; change or delete them first. The message names them.',
  defined_in_configuration:
    'The upstream, model or judge is defined in the configuration of the installation and can only be changed there.',
  alert_limit_reached: 'The organization already has the maximum number of alert channels or rules.',
  last_admin_key:
    'The last administrator key with the permission `*` cannot be revoked through the API; create another one first.',
  case_limit_reached: 'The policy has the maximum number of cases; delete one first.',
  exception_limit_reached: 'The policy has the maximum number of live exceptions; end one first, or change the policy.',
  gate_not_passed:
    'The draft has not passed the publish gate; `checks` says what is missing. Run the gate, change the draft, or override it with `policies:override`.',
  gate_stale:
    'The draft or its cases have changed since the run of the gate, or the run is older than a day; run it again.',
  already_appealed: 'There is an appeal against this decision already; `GET /v1/decisions/{event_id}` shows its state.',
  not_appealable:
    'The decision cannot be appealed: every check allowed the request, it was rejected before the checks, or it is older than 30 days.',
  labels_disagree:
    'The labels of the appeal do not say what the outcome says; label it first, ask another person to label it, or dismiss it.',
  judge_not_calibrated:
    'The judge has not shown what it needs to take over; `checks` says what is missing. Calibrate it, or override it with `policies:override`.',
  budget_limit_reached: 'The organization already has the maximum number of budgets; delete one first.',
  judge_limit_reached: 'The organization already has the maximum number of judges; delete one first.',
  view_limit_reached: 'The key or member has already saved the maximum number of views.',
  member_exists: 'Another member of the organization has this email address or subject.',
  last_owner:
    'The last owner cannot be removed, suspended or given a lower role; make another member an owner first, or create an administrator key with the permission `*`.',
  no_projects: 'A policy with the scope `projects` needs at least one project before it can be published.',
  idempotency_key_reused: 'This `Idempotency-Key` was used with another request in the last 24 hours.',
  idempotency_in_progress:
    'A request with this `Idempotency-Key` is still running; retry after `Retry-After` to get its response.',
  rate_limit_exceeded:
    'A rate limit is exceeded; wait for `Retry-After`. Response headers name the limit and its scope.',
  budget_exceeded:
    'A budget of the organization does not cover what the request may cost. The message names the budget, its amount and when it begins again; see `/v1/organization/budgets`.',
  budget_unavailable: 'What is left of a budget cannot be read right now; wait for `Retry-After`.',
  too_many_reports:
    'Too many lists and reports of the organization wait for others to end; retry after `Retry-After`, and send fewer at once.',
  moderation_blocked:
    'The text falls into a category that is always blocked, or that this request asked to block. `policy` names it.',
  policy_blocked:
    'A rule of the organization denies the request or the answer; `policy` names the rule and the audit event. An administrator reads the event with `GET /v1/organization/audit_logs/{event_id}`.',
  model_not_found: 'There is no model of this name in the catalogue.',
  model_paused: 'An administrator of the organization paused the model.',
  upstream_paused: 'An administrator of the organization paused every upstream of the model.',
  upstream_error: 'The model’s upstream failed or sent an invalid response.',
  upstream_rejected:
    'The model’s upstream rejected the request. The message has its reason, unless a rule denies that text in answers.',
  context_length_exceeded:
    'The request, or the request together with the requested output, is longer than the model’s context; send less.',
  upstream_timeout: 'The model’s upstream did not answer in time.',
  upstream_overloaded: 'The model’s upstream is overloaded or rate-limits the gateway; try again later.',
  upstream_busy:
    'All calls that the gateway may make to the model’s upstream at once are in use, and none became free within `queue_timeout_ms`; retry after `Retry-After`.',
  upstream_quota_exhausted:
    'The gateway’s account at the model’s upstream has no quota or credit left. Retrying does not help until the operator adds some.',
  unsupported_parameter: 'The request uses a parameter that the model’s upstream does not support.',
  insufficient_credits:
    'The organization’s credits do not cover the maximum cost of the request; add credits, or request fewer tokens.',
  credit_balance_unavailable: 'The credits cannot be read or charged right now; wait for `Retry-After`.',
  audit_unavailable:
    'The audit log cannot be written, and this request requires an audit event; retry after `Retry-After`.',
  storage_unavailable:
    'The database cannot be reached; retry after `Retry-After`. A change that was in progress may have been made: repeat it with its `Idempotency-Key`.',
  report_timeout:
    'The report takes longer than `storage.report_timeout_ms`, or too many others run. Narrow it: a shorter period, fewer groups, or a filter.',
  storage_full: 'The disk of the database is full; nothing was changed.',
  storage_locked:
    'Another transaction of the database has locked the same rows for longer than a second; nothing was changed. Retry after `Retry-After`.',
  storage_rejected:
    'The database answers but rejects writes, for instance because the server lost a permission; nothing was changed. The operator has to correct it: `/health/ready` names the reason. Retry after `Retry-After`.',
  unavailable:
    'The service is starting, shutting down, lacks a part that it needs, or has too many large requests in progress; retry.',
  internal_error: 'An unexpected failure. The server log has the details under the request id.',
} as const

export type FaultCode = keyof typeof faultCodes

export const isFault = (error: unknown): error is Fault => error instanceof Fault

/** True if the model's upstream caused the fault, and neither the caller nor the gateway. */
export const isUpstreamFault = (error: unknown): error is Fault => isFault(error) && error.kind.startsWith('upstream_')

/** The message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Converts any thrown value to a Fault. The text of an unexpected error is not shown to the caller. */
export function toFault(error: unknown): Fault {
  if (isFault(error)) return error
  return new Fault('internal', 'internal_error', 'Something went wrong on our side.', { cause: error })
}
