import { announcedLargeBody, endlessBody, upstreamStatus } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 413, [
  [
    'a body whose announced length is over the limit',
    announcedLargeBody,
    chatError('The body is over the limit of 33554432 bytes.', {
      type: 'invalid_request_error',
      code: 'body_too_large',
    }),
    { connection: 'close', 'x-should-retry': 'false' },
  ],
  [
    'a chunked body without end',
    endlessBody,
    chatError('The body is over the limit of 33554432 bytes.', {
      type: 'invalid_request_error',
      code: 'body_too_large',
    }),
    { connection: 'close' },
  ],
  [
    'a request that is too large for the upstream',
    upstreamStatus(413),
    chatError('Because.', { type: 'invalid_request_error', code: 'upstream_rejected' }),
  ],
])
