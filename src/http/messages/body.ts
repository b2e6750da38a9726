import { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'

/** Prepares a body for its schema: a field that is null counts as absent, because some clients send all their options. */
export function readBody(body: unknown): unknown {
  if (!isRecord(body)) return body
  const fields = Object.entries(body)
  const given = fields.filter(([, value]) => value !== null)
  const read: Record<string, unknown> = given.length === fields.length ? body : Object.fromEntries(given)
  if (read['thread'] !== undefined) throw threadRejection()
  return read
}

/**
 * Threads are rejected over every kind of upstream: the vendor stores the earlier messages of a thread, so no policy can
 * read them, and only the vendor has them. On this `error_code` the tool runners of the Anthropic SDKs send the
 * conversation again, in full and without a thread. The schema is checked afterwards, because a request that continues a
 * thread may have no messages.
 */
const threadRejection = (): Fault =>
  new Fault(
    'validation',
    'unsupported_parameter',
    'thread: message threads are not supported. Send the whole conversation in `messages`, without `thread`.',
    {
      param: 'thread',
      problems: [{ path: ['thread'], type: 'value', message: 'is not supported' }],
      vendorDetails: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  )
