import {
  administratorKey,
  freeRequestUsed,
  noCredential,
  notAKey,
  revokedKey,
  unknownKey,
} from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 401, [
  [
    'a request without a credential',
    noCredential,
    responsesError('invalid_api_key', 'No API key was sent.'),
    { 'www-authenticate': 'Bearer realm="gatehouse"', 'x-should-retry': 'false' },
  ],
  [
    'a credential that is no key',
    notAKey,
    responsesError('invalid_api_key', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an unknown key',
    unknownKey,
    responsesError('invalid_api_key', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a revoked key',
    revokedKey,
    responsesError('invalid_api_key', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an administrator key',
    administratorKey,
    responsesError(
      'invalid_api_key',
      'This is an administrator key (adm_…); this endpoint needs a project API key (ak_…).',
    ),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a second free request',
    freeRequestUsed,
    responsesError('free_request_used', 'The free request is used up. Sign up and send an API key to continue.'),
  ],
])
