import { unexpectedError } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 500, [
  [
    'an unexpected error, without its details',
    unexpectedError,
    chatError('Something went wrong on our side.', { type: 'internal_error', code: 'internal_error' }),
  ],
])
