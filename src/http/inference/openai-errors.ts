import Type from 'typebox'
import type { Fault } from '../../base/fault.ts'
import { openaiError, openaiRefusals } from './openai-refusal.ts'
import { policyOf, refusalHeaders } from '../refusal.ts'
import type { Refusal } from '../route.ts'

/** How families in OpenAI's style say no. */
export function encodeOpenaiFault(fault: Fault, requestId: string): Refusal {
  const [status] = openaiRefusals[fault.kind]
  return { status, headers: refusalHeaders(fault), body: openaiErrorBody(fault, requestId) }
}

/** The error object, which a stream that has begun sends before its last frame. */
export const openaiErrorBody = (fault: Fault, requestId: string) => ({
  error: openaiError(fault),
  request_id: requestId,
  ...policyOf(fault),
})

/** The same as a schema. */
export const OpenaiErrorBody = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String({ examples: ['invalid_request_error'] }),
    param: Type.Union([Type.String(), Type.Null()]),
    code: Type.String({ examples: ['invalid_parameter'] }),
  }),
  request_id: Type.String(),
  policy: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})
