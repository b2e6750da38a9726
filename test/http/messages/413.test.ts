import { announcedLargeBody, endlessBody, upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 413, [
  [
    'a body whose announced length is over the limit',
    announcedLargeBody,
    messagesError('request_too_large', 'The body is over the limit of 33554432 bytes.'),
    { connection: 'close', 'x-should-retry': 'false' },
  ],
  [
    'a chunked body without end',
    endlessBody,
    messagesError('request_too_large', 'The body is over the limit of 33554432 bytes.'),
    { connection: 'close' },
  ],
  ['a request that is too large for the upstream', upstreamStatus(413), messagesError('request_too_large', 'Because.')],
])
