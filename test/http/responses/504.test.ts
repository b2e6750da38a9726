import { upstreamSilent, upstreamStatus } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 504, [
  [
    'an upstream that does not begin to answer in time',
    upstreamSilent,
    responsesError('upstream_timeout', 'The model’s upstream did not start its response in time.'),
  ],
  [
    'an upstream that reports a timeout',
    upstreamStatus(504),
    responsesError('upstream_timeout', 'The model’s upstream did not finish its response in time.'),
  ],
])
