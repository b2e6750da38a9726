import { otherContentEncoding } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

const message =
  'The body has an unsupported content-encoding. Send it uncompressed, or with one of: gzip, deflate, br, zstd.'

describeStatus('messages', 415, [
  [
    'a body in an encoding that is not supported',
    otherContentEncoding,
    messagesError('invalid_request_error', message),
    { 'accept-encoding': 'gzip, deflate, br, zstd' },
  ],
])
