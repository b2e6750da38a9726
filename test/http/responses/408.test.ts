import { slowBody } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 408, [
  [
    'a body that is sent too slowly',
    slowBody,
    responsesError('request_timeout', 'The body was not sent within 1 seconds.'),
  ],
])
