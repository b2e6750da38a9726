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
    responsesError('upstream_error', 'The model’s upstream rejected the gateway’s credentials.'),
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
    responsesError('upstream_error', 'The model’s upstream sent a body that is not a JSON object.'),
  ],
  [
    'an upstream whose response is too long',
    upstreamTooLong,
    responsesError(
      'upstream_error',
      'The model’s upstream sent a response of more than 65536 bytes, which is the configured maximum.',
    ),
  ],
])
