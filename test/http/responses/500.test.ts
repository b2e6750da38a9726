import { unexpectedError } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 500, [
  [
    'an unexpected error, without its details',
    unexpectedError,
    responsesError('internal_error', 'Something went wrong on our side.'),
  ],
])
