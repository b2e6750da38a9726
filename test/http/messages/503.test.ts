import { shuttingDown } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 503, [
  [
    'a request during the shutdown',
    shuttingDown,
    messagesError('api_error', 'The service is shutting down.'),
    { 'retry-after': '5' },
  ],
])
