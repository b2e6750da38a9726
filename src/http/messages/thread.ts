import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'

/**
 * Rejects a `thread`, over every kind of upstream: the vendor stores the earlier messages of a thread, so no policy can
 * read them, and only the vendor has them. On this `error_code` the tool runners of the Anthropic SDKs send the
 * conversation again, in full and without a thread. The schema is checked afterwards, because a request that continues a
 * thread may have no messages.
 */
export function withoutThread(body: unknown): unknown {
  if (!isRecord(body) || body['thread'] === undefined || body['thread'] === null) return body
  throw new Fault('validation', 'unsupported_parameter', message, {
    param: 'thread',
    problems: [{ path: ['thread'], type: 'value', message: 'is not supported' }],
    vendorDetails: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
}

const message =
  'thread: message threads are not supported. Send the whole conversation in `messages`, without `thread`.'
