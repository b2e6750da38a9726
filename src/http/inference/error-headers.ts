import type { Fault, FaultKind } from '../../base/fault.ts'
import { faultHeaders, paramOf, wholeSeconds } from '../fault-headers.ts'

/** Whether the same request may succeed within about a minute. The official SDKs would otherwise repeat some of these. */
const retryMayHelp: Readonly<Record<FaultKind, boolean>> = {
  malformed: false,
  validation: false,
  auth: false,
  billing: false,
  permission: false,
  not_found: false,
  method: false,
  timeout: true,
  conflict: false,
  too_large: false,
  encoding: false,
  rate_limit: true,
  moderation: false,
  policy: false,
  upstream_failed: true,
  upstream_timeout: true,
  upstream_overloaded: true,
  unavailable: true,
  internal: true,
}

/** `Retry-After` for faults that name no time, unless they last. */
const defaultWaitSeconds: Partial<Record<FaultKind, number>> = { rate_limit: 1, upstream_overloaded: 5, unavailable: 5 }

/** Above this wait, `x-should-retry: false` is sent, because some clients would sleep for hours and others ignore the wait. */
const longestUsefulWaitSeconds = 60

/** Headers that every inference family sends with an error. */
export function errorHeaders(fault: Fault): Record<string, string> {
  const { kind, details } = fault
  const waitSeconds = details.retryAfterSeconds ?? (details.isPermanent ? undefined : defaultWaitSeconds[kind])
  const headers = faultHeaders(fault)
  if (waitSeconds !== undefined) headers['retry-after'] = wholeSeconds(waitSeconds)
  const isLong = waitSeconds !== undefined && waitSeconds > longestUsefulWaitSeconds
  if (isLong || !retryMayHelp[kind]) headers['x-should-retry'] = 'false'
  return headers
}

/** Truncates the message, because one from an upstream may have any length. */
export const boundedMessage = ({ message }: Fault): string =>
  message.length > maxMessageLength ? `${message.slice(0, maxMessageLength - 1)}…` : message

/** The message for formats without a field for the parameter: it starts with the header at fault. */
export function messageWithHeader(fault: Fault): string {
  const { option } = fault.details
  const header = option === undefined ? null : paramOf(fault)
  const message = boundedMessage(fault)
  return header === null || message.includes(header) ? message : `${header}: ${message}`
}

const maxMessageLength = 2000

/** The `policy` object, which names the rule that denied the request. */
export const policyOf = ({ details: { policy } }: Fault): { policy?: Readonly<Record<string, unknown>> } =>
  policy === undefined ? {} : { policy }
