import { slowBody } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 408, [
  [
    'a body that is sent too slowly',
    slowBody,
    messagesError('timeout_error', 'The body was not sent within 1 seconds.'),
  ],
])
