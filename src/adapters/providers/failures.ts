import type { FaultDetails } from '../../base/fault.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { describeOverflow } from './context-overflow.ts'
import type { JsonRecord } from './json-values.ts'
import { asList, parseRecord, asRecord, asText } from './json-values.ts'

const maxMessageLength = 1000

/** Something that is no answer: broken HTTP, broken JSON, a stream that ends in the middle. */
export const brokenAnswer = (what: string, cause?: unknown): Fault =>
  new Fault('upstream_failed', 'upstream_error', what, withCause(cause))

/** The caller is gone, or a deadline of the road has passed: whoever aborted knows why. */
export const cancelled = (reason: unknown): Fault =>
  isFault(reason) ? reason : brokenAnswer('The call was cancelled.', reason)

/** The upstream could not be reached, or the connection broke. */
export function faultOfNetwork(error: unknown): Fault {
  if (isFault(error)) return error
  if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT') return timedOut('connect', error)
  return brokenAnswer('The connection to the model’s upstream failed.', error)
}

/** Longer than we take from this upstream. */
export const tooLong = (what: string, maxBytes: number): Fault =>
  brokenAnswer(
    `The model’s upstream sent ${what} of more than ${maxBytes} bytes, which is the most that is taken from it.`,
  )

export type Phase = 'connect' | 'first-byte' | 'idle' | 'total'

const slowness: Readonly<Record<Phase, string>> = {
  connect: 'The model’s upstream could not be reached in time.',
  'first-byte': 'The model’s upstream did not begin to answer in time.',
  idle: 'The model’s upstream fell silent in the middle of its answer.',
  total: 'The model’s upstream took too long to answer.',
}

export const timedOut = (phase: Phase, cause?: unknown): Fault =>
  new Fault('upstream_timeout', 'upstream_timeout', slowness[phase], withCause(cause))

/** The caller read its answer so slowly that the call came to its end before: the upstream is not to blame. */
export const unread = (cause?: unknown): Fault =>
  new Fault('timeout', 'response_not_read', 'The answer was not read in time.', withCause(cause))

/** Our own bound on calls to one upstream; the router may try the next. */
export const tooManyCalls = (limit: number): Fault =>
  new Fault('upstream_overloaded', 'upstream_overloaded', 'Too many calls to the model’s upstream are under way.', {
    retryAfterSeconds: 1,
    cause: new Error(`max_concurrent is ${limit}`),
  })

export type UpstreamErrorResponse = {
  readonly status: number
  readonly body: string
  readonly retryAfterSeconds?: number | undefined
}

/** An answer whose status is no success. */
export function faultOfStatus({ status, body, retryAfterSeconds }: UpstreamErrorResponse): Fault {
  const error = errorOf(parseRecord(body) ?? { message: isMarkup(body) ? '' : body })
  const isOverload = status === 503 && (retryAfterSeconds !== undefined || /overload|capacity|busy/i.test(body))
  return faultOf(isOverload ? 529 : status, error, retryAfterSeconds)
}

/** An error that came inside a stream or a 200; its words stand for the status it lacks. */
export function faultOfErrorBody(body: JsonRecord): Fault {
  const error = errorOf(body)
  return faultOf(statusOf(error), error)
}

/** Where the vendors put it: `{error:{…}}`, `{error:"…"}`, `{message}`, `{detail:"…"}`, `{detail:[{msg}]}`. */
function errorOf(body: JsonRecord): JsonRecord {
  if (typeof body['error'] === 'string') return { ...body, message: body['error'] }
  const nested = asRecord(body['error'])
  if (nested !== undefined) return nested
  if (typeof body['message'] === 'string') return body
  if (typeof body['detail'] === 'string') return { message: body['detail'] }
  const problems = asList(body['detail']).map((problem) => asText(asRecord(problem)?.['msg']))
  return { message: problems.join('; ') }
}

/** A Map, because the words come from outside: `constructor` must find nothing. */
const statusOfWord: ReadonlyMap<string, number> = new Map([
  ['overloaded_error', 529],
  ['server_is_overloaded', 529],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['too_many_requests', 429],
  ['invalid_request_error', 400],
  ['invalid_prompt', 400],
  ['context_length_exceeded', 400],
  ['exceed_context_size_error', 400],
  ['BadRequestError', 400],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['timeout_error', 408],
])

function statusOf(error: JsonRecord): number {
  const { code, type, status } = error
  const named = statusOfWord.get(asText(code)) ?? statusOfWord.get(asText(type))
  if (named !== undefined) return named
  const numbered = [code, status].find((value) => typeof value === 'number' && value >= 400 && value < 600)
  return typeof numbered === 'number' ? numbered : 500
}

const rejections: ReadonlySet<number> = new Set([400, 404, 413, 422])

function faultOf(status: number, error: JsonRecord, retryAfterSeconds?: number): Fault {
  const said = asText(error['message']).slice(0, maxMessageLength)
  const details: FaultDetails = {
    cause: new Error(`upstream status ${status}: ${said}`),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  // Some servers take a prompt that is too long for a failure of their own.
  const overflow = rejections.has(status) || status === 500 ? describeOverflow(error) : undefined
  if (overflow !== undefined)
    return new Fault('validation', 'context_length_exceeded', overflow.slice(0, maxMessageLength), details)
  if (rejections.has(status)) {
    const spoken = said === '' ? `The model’s upstream refused the request (${status}).` : said
    return new Fault(status === 413 ? 'too_large' : 'validation', 'upstream_rejected', spoken, details)
  }
  if (status === 429 || status === 529) {
    return new Fault('upstream_overloaded', 'upstream_overloaded', 'The model’s upstream is overloaded.', details)
  }
  if (status === 401 || status === 403) {
    const message = 'The model’s upstream refused our credentials.'
    return new Fault('upstream_failed', 'upstream_error', message, { ...details, isPermanent: true })
  }
  if (status === 408 || status === 504) return timedOut('total', details.cause)
  return new Fault('upstream_failed', 'upstream_error', `The model’s upstream failed (${status}).`, details)
}

/** `Retry-After` in seconds or as a date, or the milliseconds form that the vendors' SDKs read first. */
export function retryAfterOf(headers: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const milliseconds = Number.parseFloat(asText(headers['retry-after-ms']))
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000)
  const value = asText(headers['retry-after']).trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value))
  const dateMs = Date.parse(value)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
}

/** A proxy's error page says nothing that a caller could use. */
const isMarkup = (body: string): boolean => body.trimStart().startsWith('<')

const withCause = (cause: unknown): FaultDetails => (cause === undefined ? {} : { cause })

const codeOf = (error: unknown): string => asText(asRecord(error)?.['code'])
