import { upstreamSilent, upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 504, [
  [
    'an upstream that does not begin to answer in time',
    upstreamSilent,
    messagesError('api_error', 'The model’s upstream did not start its response in time.'),
  ],
  [
    'an upstream that reports a timeout',
    upstreamStatus(504),
    messagesError('api_error', 'The model’s upstream did not finish its response in time.'),
  ],
])
