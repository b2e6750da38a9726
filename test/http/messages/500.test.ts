import { unexpectedError } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 500, [
  [
    'an unexpected error, without its details',
    unexpectedError,
    messagesError('api_error', 'Something went wrong on our side.'),
  ],
])
