import type { FaultDetails } from '../../base/fault.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { describeOverflow } from './context-overflow.ts'
import type { JsonRecord } from './json-values.ts'
import { asList, parseRecord, asRecord, asText } from './json-values.ts'

const maxMessageLength = 1000

/** Longer details are left out, because a cut JSON object is none. */
const maxDetailsLength = 2000

/** The upstream did not send a valid response: broken HTTP, invalid JSON, or an incomplete stream. */
export const upstreamFailed = (message: string, cause?: unknown): Fault =>
  new Fault('upstream_failed', 'upstream_error', message, withCause(cause))

/** The call was aborted, because the caller disconnected or a deadline passed. The abort reason may itself be a `Fault`. */
export const cancelled = (reason: unknown): Fault =>
  isFault(reason) ? reason : upstreamFailed('The call was cancelled.', reason)

/** The upstream could not be reached, or the connection was lost. */
export function faultOfNetwork(error: unknown): Fault {
  if (isFault(error)) return error
  if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT') return timedOut('connect', error)
  return upstreamFailed('The connection to the model’s upstream failed.', error)
}

/** The response exceeds `max_answer_bytes`. `part` names the part that is too long. */
export const responseTooLong = (part: string, maxBytes: number): Fault =>
  upstreamFailed(`The model’s upstream sent ${part} of more than ${maxBytes} bytes, which is the configured maximum.`)

export type Phase = 'connect' | 'first-byte' | 'idle' | 'total'

const timeoutMessages: Readonly<Record<Phase, string>> = {
  connect: 'The model’s upstream could not be reached in time.',
  'first-byte': 'The model’s upstream did not start its response in time.',
  idle: 'The model’s upstream sent no data for too long during its response.',
  total: 'The model’s upstream did not finish its response in time.',
}

export const timedOut = (phase: Phase, cause?: unknown): Fault =>
  new Fault('upstream_timeout', 'upstream_timeout', timeoutMessages[phase], withCause(cause))

/** The caller read the response so slowly that the call timed out. This does not count as an upstream failure. */
export const responseNotRead = (cause?: unknown): Fault =>
  new Fault('timeout', 'response_not_read', 'The client did not read the response in time.', withCause(cause))

/** The gateway's own limit on concurrent calls to one upstream. The router may try the next target. */
export const tooManyCalls = (limit: number): Fault =>
  new Fault('upstream_overloaded', 'upstream_busy', 'Too many concurrent calls to the model’s upstream.', {
    retryAfterSeconds: 1,
    cause: new Error(`max_concurrent is ${limit}`),
  })

export type UpstreamErrorResponse = {
  readonly status: number
  readonly body: string
  readonly retryAfterSeconds?: number | undefined
}

/** Reads what the errors of one vendor say beyond their status. */
export type ReadError = (error: UpstreamErrorResponse) => UpstreamErrorResponse

/** Maps a response with an error status. */
export function faultOfStatus({ status, body, retryAfterSeconds }: UpstreamErrorResponse): Fault {
  const error = errorOf(parseRecord(body) ?? { message: isMarkup(body) ? '' : body })
  const isOverload = status === 503 && (retryAfterSeconds !== undefined || /overload|capacity|busy/i.test(body))
  return faultOf(isOverload ? 529 : status, error, retryAfterSeconds)
}

/** Maps an error inside a stream or a 200 response. Its code or type determines the missing status. */
export function faultOfErrorBody(body: JsonRecord): Fault {
  const error = errorOf(body)
  return faultOf(statusOf(error), error)
}

/** Finds the error object. Vendors use `{error:{…}}`, `{error:"…"}`, `{message}`, `{detail:"…"}` or `{detail:[{msg}]}`. */
function errorOf(body: JsonRecord): JsonRecord {
  if (typeof body['error'] === 'string') return { ...body, message: body['error'] }
  const nested = asRecord(body['error'])
  if (nested !== undefined) return nested
  if (typeof body['message'] === 'string') return body
  if (typeof body['detail'] === 'string') return { message: body['detail'] }
  const problems = asList(body['detail']).map((problem) => asText(asRecord(problem)?.['msg']))
  return { message: problems.join('; ') }
}

/** A `Map` and not an object, because the keys come from the upstream: `constructor` must not match. */
const statusOfCode: ReadonlyMap<string, number> = new Map([
  ['overloaded_error', 529],
  ['server_is_overloaded', 529],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
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
  const named = statusOfCode.get(asText(code)) ?? statusOfCode.get(asText(type))
  if (named !== undefined) return named
  const numbered = [code, status].find((value) => typeof value === 'number' && value >= 400 && value < 600)
  return typeof numbered === 'number' ? numbered : 500
}

/** Codes and types of vendors for an account without quota or credit. Most are sent with 429, which clients would retry. */
const quotaCodes: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_error',
  'billing_hard_limit_reached',
  'billing_not_active',
])

/** Anthropic reports an exhausted balance as an invalid request. */
const isOutOfQuota = (status: number, { code, type, message }: JsonRecord): boolean =>
  status === 402 ||
  quotaCodes.has(asText(code)) ||
  quotaCodes.has(asText(type)) ||
  (status === 400 && /credit balance is too low/i.test(asText(message)))

const outOfQuota = (cause: unknown): Fault =>
  new Fault(
    'upstream_failed',
    'upstream_quota_exhausted',
    'The gateway’s account at the model’s upstream is out of quota. Retrying does not help: ask the operator of the gateway.',
    { cause, isPermanent: true },
  )

const rejectionStatuses: ReadonlySet<number> = new Set([400, 404, 413, 422])

function faultOf(status: number, error: JsonRecord, retryAfterSeconds?: number): Fault {
  const reported = asText(error['message']).slice(0, maxMessageLength)
  const details: FaultDetails = {
    cause: new Error(`upstream status ${status}: ${reported}`),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  if (isOutOfQuota(status, error)) return outOfQuota(details.cause)
  // Some servers report a prompt that is too long as an internal error.
  const overflow = rejectionStatuses.has(status) || status === 500 ? describeOverflow(error) : undefined
  if (overflow !== undefined)
    return new Fault('validation', 'context_length_exceeded', overflow.slice(0, maxMessageLength), details)
  if (rejectionStatuses.has(status) || (status === 500 && isAboutRequest(reported))) {
    const message =
      reported === '' ? `The model’s upstream rejected the request (${status}) without a reason.` : reported
    const isUnexplained = reported === '' && ({ isUnexplained: true } as const)
    return new Fault(status === 413 ? 'too_large' : 'validation', 'upstream_rejected', message, {
      ...details,
      ...isUnexplained,
      ...(isUnknownModel(status, error) && { isUnknownModel: true }),
      ...vendorDetailsOf(error),
    })
  }
  if (status === 429 || status === 529) {
    return new Fault('upstream_overloaded', 'upstream_overloaded', 'The model’s upstream is overloaded.', details)
  }
  if (status === 401 || status === 403) {
    const message = 'The model’s upstream rejected the gateway’s credentials.'
    return new Fault('upstream_failed', 'upstream_error', message, { ...details, isPermanent: true })
  }
  if (status === 408 || status === 504) return timedOut('total', details.cause)
  return new Fault('upstream_failed', 'upstream_error', `The model’s upstream failed (${status}).`, details)
}

/** What llama.cpp and Ollama report as an internal error although the request is the cause: another upstream is not to be tried. */
const requestPhrases = new RegExp(
  [
    '(image|audio|video|multimodal) (input|file)s? (is|are) not supported',
    'does not support (images?|audio|video|vision|tools|thinking|multimodal)',
    'missing data required for image input',
    'failed to (load|process|decode|parse) (the )?(image|audio|video|grammar|json schema|tools?|messages)',
    'invalid (image|audio|grammar|url value)',
    'requires (the )?--jinja',
    '(param|parameter|field) (is )?(not supported|requires)',
    'unsupported (param|content|value|type)',
    'only one completion choice',
    'cannot use (custom grammar|both)',
    'conversation roles must alternate',
    '(json )?schema conversion failed',
    'prefill is incompatible',
  ].join('|'),
  'i',
)

const isAboutRequest = (message: string): boolean => requestPhrases.test(message)

/** OpenAI, vLLM and Ollama name the model in a sentence, Anthropic as `model: NAME`. Another 404 is about a wrong address. */
const isUnknownModel = (status: number, { code, message }: JsonRecord): boolean =>
  code === 'model_not_found' ||
  (status === 404 && /^model: |\bmodel\b.*(not found|does not exist|not exist)|no such model/i.test(asText(message)))

/** Anthropic's `error.details`. Only what a rejected request was rejected for: other errors are about the gateway's account. */
function vendorDetailsOf({ details }: JsonRecord): Pick<FaultDetails, 'vendorDetails'> {
  const vendorDetails = asRecord(details)
  return vendorDetails === undefined || JSON.stringify(vendorDetails).length > maxDetailsLength ? {} : { vendorDetails }
}

/** Reads `Retry-After` in seconds or as a date, or `retry-after-ms`, which the vendors' SDKs prefer. */
export function retryAfterOf(headers: Readonly<Record<string, unknown>>, nowMs: number): number | undefined {
  const milliseconds = Number.parseFloat(asText(headers['retry-after-ms']))
  if (milliseconds >= 0) return Math.ceil(milliseconds / 1000)
  const value = asText(headers['retry-after']).trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value))
  const dateMs = Date.parse(value)
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1000))
}

/** An HTML error page of a proxy contains nothing that a caller could use. */
const isMarkup = (body: string): boolean => body.trimStart().startsWith('<')

const withCause = (cause: unknown): FaultDetails => (cause === undefined ? {} : { cause })

const codeOf = (error: unknown): string => asText(asRecord(error)?.['code'])
