import Type from 'typebox'
import { text } from '../described.ts'
import type { Fault, FaultKind } from '../../base/fault.ts'
import { boundedMessage, policyOf, errorHeaders } from './error-headers.ts'
import { policyDecision } from './policy-decision.ts'
import { paramOf } from '../fault-headers.ts'
import type { ErrorResponse } from '../route.ts'

/** The statuses and error types that the two OpenAI-style dialects share. */
export const openaiErrors: Readonly<Record<FaultKind, readonly [status: number, type: string]>> = {
  malformed: [400, 'invalid_request_error'],
  validation: [400, 'invalid_request_error'],
  auth: [401, 'authentication_error'],
  billing: [402, 'billing_error'],
  permission: [403, 'permission_error'],
  not_found: [404, 'invalid_request_error'],
  method: [405, 'invalid_request_error'],
  timeout: [408, 'invalid_request_error'],
  conflict: [409, 'invalid_request_error'],
  too_large: [413, 'invalid_request_error'],
  encoding: [415, 'invalid_request_error'],
  rate_limit: [429, 'rate_limit_error'],
  moderation: [400, 'invalid_request_error'],
  policy: [400, 'policy_error'],
  upstream_failed: [502, 'provider_error'],
  upstream_timeout: [504, 'provider_error'],
  upstream_overloaded: [503, 'provider_error'],
  unavailable: [503, 'internal_error'],
  internal: [500, 'internal_error'],
}

/** The `error` object of an OpenAI-style body. All limits share one `code`; a budget has its own, because waiting does not help. */
export function openaiError(fault: Fault) {
  const [, type] = openaiErrors[fault.kind]
  const isLimit = fault.kind === 'rate_limit'
  return {
    message: boundedMessage(fault),
    type,
    param: isLimit ? null : paramOf(fault),
    code: isLimit && fault.code !== 'budget_exceeded' ? 'rate_limit_exceeded' : fault.code,
  }
}

/** The error response of families in OpenAI's format. */
export function encodeOpenaiFault(fault: Fault, requestId: string): ErrorResponse {
  const [status] = openaiErrors[fault.kind]
  return { status, headers: errorHeaders(fault), body: openaiErrorBody(fault, requestId) }
}

/** The error body. A stream that has begun sends it before its last frame. */
export const openaiErrorBody = (fault: Fault, requestId: string) => ({
  error: openaiError(fault),
  request_id: requestId,
  ...policyOf(fault),
})

/** The schema of the error body. */
export const OpenaiErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        message: text('What happened, which field, and what to do.'),
        type: text('The kind of error.', { examples: ['invalid_request_error'] }),
        param: Type.Union([Type.String(), Type.Null()], { description: 'The request field at fault.' }),
        code: text('Stable and machine-readable; `/docs/errors` explains every code.', {
          examples: ['invalid_parameter'],
        }),
      },
      { description: 'What went wrong.' },
    ),
    request_id: text('The request, for questions to the operator.'),
    policy: Type.Optional(policyDecision('The rule that denied the request.')),
  },
  { title: 'OpenaiErrorBody' },
)
