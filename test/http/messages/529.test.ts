import { upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 529, [
  [
    'an overloaded upstream (429)',
    upstreamStatus(429),
    messagesError('overloaded_error', 'The model’s upstream is overloaded.'),
    { 'retry-after': '5' },
  ],
  [
    'an overloaded upstream (529)',
    upstreamStatus(529),
    messagesError('overloaded_error', 'The model’s upstream is overloaded.'),
    { 'retry-after': '5' },
  ],
])
