import { upstreamSilent, upstreamStatus } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 504, [
  [
    'an upstream that does not begin to answer in time',
    upstreamSilent,
    chatError('The model’s upstream did not start its response in time.', {
      type: 'provider_error',
      code: 'upstream_timeout',
    }),
  ],
  [
    'an upstream that reports a timeout',
    upstreamStatus(504),
    chatError('The model’s upstream did not finish its response in time.', {
      type: 'provider_error',
      code: 'upstream_timeout',
    }),
  ],
])
