import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import { IdempotencyHeaders } from './idempotency-key.ts'

/** For changes of what may have changed since it was read. */
export const ConditionalHeaders = Type.Object({
  ...IdempotencyHeaders.properties,
  'If-Match': Type.Optional(
    Type.String({
      description:
        'The `updated_at` that was read, in quotation marks or not; `null` where nothing was saved yet. The change is refused with 409 where something was saved since.',
      examples: ['"2026-01-01T00:00:00.000Z"'],
    }),
  ),
})

/** The time that the header names, null for "not yet", and undefined where any state will do. */
export function timeOfIfMatch(header: string | undefined): number | null | undefined {
  if (header === undefined || header === '*') return undefined
  const text = header.replace(/^"(.*)"$/, '$1')
  if (text === 'null') return null
  const timeMs = Date.parse(text)
  if (!Number.isNaN(timeMs)) return timeMs
  throw new Fault('malformed', 'invalid_header', 'If-Match must be an updated_at as it was read.', {
    param: 'If-Match',
  })
}
