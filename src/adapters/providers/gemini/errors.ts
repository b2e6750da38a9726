import type { UpstreamErrorResponse } from '../failures.ts'
import { faultOfStatus } from '../failures.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asRecords, asText, parseRecord } from '../json-values.ts'

/**
 * Reads Google's errors, `{error:{code,message,status,details}}`. Details say how long to wait. A wrong key is reported as an
 * invalid request, and a model that does not exist in a sentence that names its path.
 */
export function readGeminiError(response: UpstreamErrorResponse): UpstreamErrorResponse {
  const error = asRecord(parseRecord(withoutList(response.body))?.['error'])
  if (error === undefined) return response
  const { retryAfterSeconds = retryDelayOf(error) } = response
  const isUnknownModel = response.status === 404 && asText(error['message']).startsWith('models/')
  const read = isUnknownModel ? { ...error, code: 'model_not_found' } : error
  const status = response.status === 400 && isAboutAccount(error) ? 401 : response.status
  return { status, body: JSON.stringify({ error: read }), retryAfterSeconds }
}

/** The fault of an error inside a stream or a 200 response. */
export function geminiFault(body: JsonRecord) {
  const code = asRecord(body['error'])?.['code']
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 500
  return faultOfStatus(readGeminiError({ status, body: JSON.stringify(body) }))
}

/** Some errors of the streaming method are in a list of one. */
const withoutList = (body: string): string => body.trim().replace(/^\[([^]*)\]$/, '$1')

const isAboutAccount = (error: JsonRecord): boolean =>
  error['status'] === 'FAILED_PRECONDITION' ||
  asRecords(error['details']).some(({ reason }) => asText(reason).startsWith('API_KEY_'))

/** `RetryInfo` has a duration such as `34.07s`. */
function retryDelayOf(error: JsonRecord): number | undefined {
  const delays = asRecords(error['details']).map(({ retryDelay }) => Number.parseFloat(asText(retryDelay)))
  const delay = delays.find((seconds) => seconds >= 0)
  return delay === undefined ? undefined : Math.ceil(delay)
}
