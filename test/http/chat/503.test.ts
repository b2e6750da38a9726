import { shuttingDown, upstreamStatus } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 503, [
  [
    'a request during the shutdown',
    shuttingDown,
    chatError('The service is shutting down.', { type: 'internal_error', code: 'unavailable' }),
    { 'retry-after': '5' },
  ],
  [
    'an overloaded upstream (429)',
    upstreamStatus(429),
    chatError('The model’s upstream is overloaded.', { type: 'provider_error', code: 'upstream_overloaded' }),
    { 'retry-after': '5' },
  ],
  [
    'an overloaded upstream (529)',
    upstreamStatus(529),
    chatError('The model’s upstream is overloaded.', { type: 'provider_error', code: 'upstream_overloaded' }),
    { 'retry-after': '5' },
  ],
])
