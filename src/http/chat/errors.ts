import type { Fault } from '../../base/fault.ts'
import { openaiError, openaiRefusals } from '../openai-refusal.ts'
import { policyOf, refusalHeaders } from '../refusal.ts'
import type { Refusal } from '../route.ts'

/** How this family says no. */
export function encodeFault(fault: Fault, requestId: string): Refusal {
  const [status] = openaiRefusals[fault.kind]
  return { status, headers: refusalHeaders(fault), body: errorBody(fault, requestId) }
}

/** The error object, which a stream that has begun sends before its last frame. */
export const errorBody = (fault: Fault, requestId: string) => ({
  error: openaiError(fault),
  request_id: requestId,
  ...policyOf(fault),
})
