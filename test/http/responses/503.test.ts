import { shuttingDown, upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 503, [
  [
    'a request during the shutdown',
    shuttingDown,
    responsesError('unavailable', 'The service is shutting down.'),
    { 'retry-after': '5' },
  ],
  [
    'an overloaded upstream (429)',
    upstreamStatus(429),
    responsesError('upstream_overloaded', 'The model’s upstream is overloaded.'),
    { 'retry-after': '5' },
  ],
  [
    'an overloaded upstream (529)',
    upstreamStatus(529),
    responsesError('upstream_overloaded', 'The model’s upstream is overloaded.'),
    { 'retry-after': '5' },
  ],
])
