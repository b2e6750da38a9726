import {
  upstreamGarbage,
  upstreamStatus,
  upstreamTooLong,
  upstreamUnreachable,
} from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 502, [
  [
    'an upstream that fails',
    upstreamStatus(500),
    responsesError('upstream_error', 'The model’s upstream failed (500).'),
  ],
  [
    'an upstream that rejects the configured credential',
    upstreamStatus(401),
    responsesError('upstream_error', 'The model’s upstream refused our credentials.'),
    { 'x-should-retry': 'false' },
  ],
  [
    'an upstream that cannot be reached',
    upstreamUnreachable,
    responsesError('upstream_error', 'The connection to the model’s upstream failed.'),
  ],
  [
    'an upstream that sends no JSON',
    upstreamGarbage,
    responsesError('upstream_error', 'The model’s upstream sent something that is no JSON object.'),
  ],
  [
    'an upstream whose response is too long',
    upstreamTooLong,
    responsesError(
      'upstream_error',
      'The model’s upstream sent an answer of more than 65536 bytes, which is the most that is taken from it.',
    ),
  ],
])
