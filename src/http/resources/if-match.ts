import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import { IdempotencyHeaders } from './idempotency-key.ts'

/** The headers of mutations with optimistic locking. */
export const ConditionalHeaders = Type.Object({
  ...IdempotencyHeaders.properties,
  'If-Match': Type.Optional(
    Type.String({
      description:
        'The `ETag` that the caller has read. Responds with 409 if the object was changed since. The gateway configuration also accepts its `updated_at`, with or without quotation marks, and `null` if nothing was saved yet.',
      examples: ['"2026-01-01T00:00:00.000Z"'],
    }),
  ),
})

/** The tag of a saved time. A suffix names a state that changes without a save. */
export const timeTag = (time: string | null, state = ''): string => `"${time}${state === '' ? '' : `;${state}`}"`

/** The time in the header; null for "nothing saved yet", undefined if any version may be replaced. */
export function timeOfIfMatch(header: string | undefined): number | null | undefined {
  if (header === undefined || header === '*') return undefined
  const text = header.replace(/^"(.*)"$/, '$1').replace(/;\w+$/, '')
  if (text === 'null') return null
  const timeMs = Date.parse(text)
  if (!Number.isNaN(timeMs)) return timeMs
  throw new Fault('malformed', 'invalid_header', 'If-Match must be the updated_at of the resource.', {
    param: 'If-Match',
  })
}
