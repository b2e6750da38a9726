import { otherContentEncoding } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

const message =
  'The body has an unsupported content-encoding. Send it uncompressed, or with one of: gzip, deflate, br, zstd.'

describeStatus('responses', 415, [
  [
    'a body in an encoding that is not supported',
    otherContentEncoding,
    responsesError('unsupported_encoding', message),
    { 'accept-encoding': 'gzip, deflate, br, zstd' },
  ],
])
