import type { Fault, FaultKind, Problem } from '../../base/fault.ts'
import { boundedMessage, messageWithHeader, policyOf, errorHeaders } from '../inference/error-headers.ts'
import type { ErrorResponse } from '../route.ts'

const table: Readonly<Record<FaultKind, readonly [status: number, type: string]>> = {
  malformed: [400, 'invalid_request_error'],
  validation: [400, 'invalid_request_error'],
  auth: [401, 'authentication_error'],
  billing: [402, 'permission_error'],
  permission: [403, 'permission_error'],
  not_found: [404, 'not_found_error'],
  method: [405, 'invalid_request_error'],
  timeout: [408, 'timeout_error'],
  conflict: [409, 'conflict_error'],
  too_large: [413, 'request_too_large'],
  encoding: [415, 'invalid_request_error'],
  rate_limit: [429, 'rate_limit_error'],
  moderation: [400, 'invalid_request_error'],
  policy: [400, 'invalid_request_error'],
  upstream_failed: [502, 'api_error'],
  upstream_timeout: [504, 'api_error'],
  upstream_overloaded: [529, 'overloaded_error'],
  unavailable: [503, 'api_error'],
  internal: [500, 'api_error'],
}

/** The error response of this family. */
export function encodeMessagesFault(fault: Fault, requestId: string): ErrorResponse {
  const [status] = table[fault.kind]
  return { status, headers: { ...errorHeaders(fault), 'request-id': requestId }, body: errorBody(fault, requestId) }
}

/** The error body. A stream that has begun sends it as its last event. */
export function errorBody(fault: Fault, requestId: string) {
  const [, type] = table[fault.kind]
  // The vendor's SDKs show `details.error_code` as the code of the error.
  const details = { error_code: fault.code, ...fault.details.vendorDetails }
  const error = { type, message: messageWithHeader(fault), details }
  return { type: 'error', error, request_id: requestId, ...policyOf(fault) }
}

/** The error response of `count_tokens` for an invalid body: every problem with its path. Other errors have the family's format. */
export function encodeDetailFault(fault: Fault, requestId: string): ErrorResponse {
  if (fault.kind !== 'validation' && fault.kind !== 'malformed') return encodeMessagesFault(fault, requestId)
  const problems: readonly Problem[] = fault.details.problems ?? [
    { path: [], type: 'value', message: boundedMessage(fault) },
  ]
  const detail = problems.map((problem) => ({
    loc: ['body', ...problem.path],
    msg: problem.message,
    type: problem.type,
    input: problem.input ?? null,
    ctx: {},
  }))
  const headers = { ...errorHeaders(fault), 'request-id': requestId }
  return { status: 422, headers, body: { detail, request_id: requestId } }
}
