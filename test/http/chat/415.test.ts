import { otherContentEncoding } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

const message =
  'The body has an unsupported content-encoding. Send it uncompressed, or with one of: gzip, deflate, br, zstd.'

describeStatus('chat', 415, [
  [
    'a body in an encoding that is not supported',
    otherContentEncoding,
    chatError(message, { type: 'invalid_request_error', code: 'unsupported_encoding' }),
    { 'accept-encoding': 'gzip, deflate, br, zstd' },
  ],
])
