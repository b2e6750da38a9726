import {
  upstreamGarbage,
  upstreamStatus,
  upstreamTooLong,
  upstreamUnreachable,
} from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 502, [
  ['an upstream that fails', upstreamStatus(500), messagesError('api_error', 'The model’s upstream failed (500).')],
  [
    'an upstream that rejects the configured credential',
    upstreamStatus(401),
    messagesError('api_error', 'The model’s upstream rejected the gateway’s credentials.'),
    { 'x-should-retry': 'false' },
  ],
  [
    'an upstream that cannot be reached',
    upstreamUnreachable,
    messagesError('api_error', 'The connection to the model’s upstream failed.'),
  ],
  [
    'an upstream that sends no JSON',
    upstreamGarbage,
    messagesError('api_error', 'The model’s upstream sent a body that is not a JSON object.'),
  ],
  [
    'an upstream whose response is too long',
    upstreamTooLong,
    messagesError(
      'api_error',
      'The model’s upstream sent a response of more than 65536 bytes, which is the configured maximum.',
    ),
  ],
])
