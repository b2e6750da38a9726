import Type from 'typebox'
import { text } from './described.ts'
import type { Fault, FaultKind } from '../base/fault.ts'
import { faultHeaders, paramOf } from './fault-headers.ts'
import type { ErrorResponse } from './route.ts'

/** The error format of administration, the policy gateway, and all endpoints that imitate no vendor. */
const table: Readonly<Record<FaultKind, readonly [status: number, type: GeneralErrorType]>> = {
  malformed: [400, 'validation_error'],
  validation: [422, 'validation_error'],
  auth: [401, 'auth_error'],
  billing: [402, 'billing_error'],
  permission: [403, 'permission_error'],
  not_found: [404, 'not_found_error'],
  method: [405, 'validation_error'],
  timeout: [408, 'validation_error'],
  conflict: [409, 'conflict_error'],
  too_large: [413, 'validation_error'],
  encoding: [415, 'validation_error'],
  rate_limit: [429, 'rate_limit_error'],
  moderation: [400, 'moderation_error'],
  policy: [400, 'policy_error'],
  upstream_failed: [502, 'provider_error'],
  upstream_timeout: [504, 'provider_error'],
  upstream_overloaded: [503, 'provider_error'],
  unavailable: [503, 'internal_error'],
  internal: [500, 'internal_error'],
}

const errorTypes = [
  'auth_error',
  'permission_error',
  'validation_error',
  'rate_limit_error',
  'billing_error',
  'moderation_error',
  'policy_error',
  'media_error',
  'not_found_error',
  'conflict_error',
  'provider_error',
  'internal_error',
] as const

type GeneralErrorType = (typeof errorTypes)[number]

const maxMessageLength = 1000

export const GeneralErrorBody = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ description: 'Stable and machine-readable; every code is explained at `doc_url`.' }),
        message: text('What happened, which field, and what to do.'),
        type: Type.Enum([...errorTypes], { description: 'The kind of error.' }),
        param: Type.Union([Type.String(), Type.Null()], { description: 'The request field at fault.' }),
        request_id: text('The request, for questions to the operator.'),
        doc_url: Type.Union([Type.String(), Type.Null()], { description: 'The explanation of the code.' }),
        checks: Type.Optional(
          Type.Array(Type.Object({}, { description: 'A check.' }), {
            description:
              'Of `gate_not_passed` and `judge_not_calibrated`: the checks of the publish gate or of the judge that are not passed.',
          }),
        ),
      },
      { description: 'What went wrong.' },
    ),
  },
  {
    title: 'ErrorBody',
    description: 'An error.',
    examples: [
      {
        error: {
          code: 'revision_conflict',
          message: 'The policy is at revision 4; the request names 3.',
          type: 'conflict_error',
          param: 'revision',
          request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
          doc_url: 'http://127.0.0.1:8080/docs/errors#revision_conflict',
        },
      },
    ],
  },
)

export function createDefaultErrors(baseUrl: () => string) {
  return (fault: Fault, requestId: string): ErrorResponse => {
    const [status, type] = table[fault.kind]
    return {
      status,
      headers: faultHeaders(fault),
      body: {
        error: {
          code: fault.code,
          message: fault.message.slice(0, maxMessageLength),
          type,
          param: paramOf(fault),
          request_id: requestId,
          doc_url: `${baseUrl()}/docs/errors#${fault.code}`,
          ...(fault.details.checks && { checks: fault.details.checks }),
        },
      },
    }
  }
}
