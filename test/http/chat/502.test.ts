import {
  upstreamGarbage,
  upstreamStatus,
  upstreamTooLong,
  upstreamUnreachable,
} from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 502, [
  [
    'an upstream that fails',
    upstreamStatus(500),
    chatError('The model’s upstream failed (500).', { type: 'provider_error', code: 'upstream_error' }),
  ],
  [
    'an upstream that rejects the configured credential',
    upstreamStatus(401),
    chatError('The model’s upstream rejected the gateway’s credentials.', {
      type: 'provider_error',
      code: 'upstream_error',
    }),
    { 'x-should-retry': 'false' },
  ],
  [
    'an upstream that cannot be reached',
    upstreamUnreachable,
    chatError('The connection to the model’s upstream failed.', { type: 'provider_error', code: 'upstream_error' }),
  ],
  [
    'an upstream that sends no JSON',
    upstreamGarbage,
    chatError('The model’s upstream sent a body that is not a JSON object.', {
      type: 'provider_error',
      code: 'upstream_error',
    }),
  ],
  [
    'an upstream whose response is too long',
    upstreamTooLong,
    chatError('The model’s upstream sent a response of more than 65536 bytes, which is the configured maximum.', {
      type: 'provider_error',
      code: 'upstream_error',
    }),
  ],
])
