import { slowBody } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 408, [
  [
    'a body that is sent too slowly',
    slowBody,
    chatError('The body was not sent within 1 seconds.', { type: 'invalid_request_error', code: 'request_timeout' }),
  ],
])
