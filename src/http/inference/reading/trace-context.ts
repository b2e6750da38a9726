import type { IncomingHttpHeaders } from 'node:http'
import type { SpanContext } from '../../../base/span-context.ts'

/** Version, trace id, span id and flags. Later versions may append fields. */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/
const tracestate = /^[\x20-\x7e]{1,512}$/

/** The caller's span in the W3C Trace Context headers. Undefined without a valid one: an invalid header is ignored. */
export function callerSpanOf(headers: IncomingHttpHeaders): SpanContext | undefined {
  const { traceparent: parent, tracestate: state } = headers
  if (typeof parent !== 'string') return undefined
  const [, version, traceId = '', spanId = '', flags = '', rest] = traceparent.exec(parent) ?? []
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, ...(typeof state === 'string' && tracestate.test(state) && { state }) }
}
