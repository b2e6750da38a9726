import { announcedLargeBody, endlessBody, upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 413, [
  [
    'a body whose announced length is over the limit',
    announcedLargeBody,
    responsesError('body_too_large', 'The body is over the limit of 33554432 bytes.'),
    { connection: 'close', 'x-should-retry': 'false' },
  ],
  [
    'a chunked body without end',
    endlessBody,
    responsesError('body_too_large', 'The body is over the limit of 33554432 bytes.'),
    { connection: 'close' },
  ],
  [
    'a request that is too large for the upstream',
    upstreamStatus(413),
    responsesError('upstream_rejected', 'Because.'),
  ],
])
