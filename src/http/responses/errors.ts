import type { Fault } from '../../base/fault.ts'
import { openaiError, openaiErrors } from '../inference/openai-errors.ts'
import { messageWithHeader, policyOf, errorHeaders } from '../inference/error-headers.ts'
import type { ErrorResponse } from '../route.ts'

/** The error response of this family: flat, except for a 429, which has OpenAI's format. */
export function encodeResponsesFault(fault: Fault, requestId: string): ErrorResponse {
  const [status] = openaiErrors[fault.kind]
  const error =
    fault.kind === 'rate_limit' ? { error: openaiError(fault) } : { error: messageWithHeader(fault), code: fault.code }
  return { status, headers: errorHeaders(fault), body: { ...error, request_id: requestId, ...policyOf(fault) } }
}

/**
 * The error event of a stream that has begun. It has each field twice: flat, as OpenAI documents it, and nested, because
 * many clients ignore the flat fields.
 */
export function errorEvent(fault: Fault, requestId: string, sequenceNumber: number) {
  const error = openaiError(fault)
  const { code, message, param } = error
  return {
    type: 'error',
    sequence_number: sequenceNumber,
    code,
    message,
    param,
    error,
    request_id: requestId,
    ...policyOf(fault),
  }
}
