import { Fault, type FaultDetails, type FaultFields, type RequestOption } from '../base/fault.ts'
import { LimitedFault } from '../domain/limits/limited-fault.ts'
import { acceptedEncodings } from './body-encoding.ts'
import { gatewayHeader } from './gateway-headers.ts'
import { rateLimitHeaders } from './rate-limit-headers.ts'

/** A fault of the HTTP layer itself, with headers of its own, such as `allow`, and a status if no kind of fault has it. */
export class HttpFault extends Fault {
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | undefined

  constructor(
    { kind, code, message, details }: FaultFields,
    headers: Readonly<Record<string, string>>,
    status?: number,
  ) {
    super(kind, code, message, details)
    this.headers = headers
    this.status = status
  }
}

const challenges: Readonly<Record<NonNullable<FaultDetails['credential']>, string>> = {
  missing: 'Bearer realm="gatehouse"',
  invalid: 'Bearer realm="gatehouse", error="invalid_token"',
}

/** The headers of an error response that do not depend on the endpoint family. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const { credential, isPermanent, retryAfterSeconds } = fault.details
  const headers: Record<string, string> = {
    ...gatewayHeader('x-gatehouse-error-code', fault.code),
    ...ownHeaders(fault),
  }
  if (credential !== undefined) headers['www-authenticate'] = challenges[credential]
  if (isPermanent === true) headers['x-should-retry'] = 'false'
  if (fault.kind === 'encoding') headers['accept-encoding'] = acceptedEncodings
  if (retryAfterSeconds !== undefined) headers['retry-after'] = wholeSeconds(retryAfterSeconds)
  return headers
}

function ownHeaders(fault: Fault): Record<string, string> {
  if (fault instanceof LimitedFault) return rateLimitHeaders(fault.limitStatus)
  return fault instanceof HttpFault ? { ...fault.headers } : {}
}

/** `Retry-After` takes whole seconds. Rounded up, so that the retry is not too early, and at least one. */
export const wholeSeconds = (seconds: number): string => String(Math.max(1, Math.ceil(seconds)))

const headerOf: Readonly<Record<RequestOption, string>> = {
  idempotency_key: 'Idempotency-Key',
  expected_version: 'If-Match',
  policy_id: 'X-Policy-Id',
}

/** The field or header at fault, by the name that callers know. */
export const paramOf = ({ details: { param, option } }: Fault): string | null =>
  param ?? (option === undefined ? null : headerOf[option])
