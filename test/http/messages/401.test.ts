import {
  administratorKey,
  freeRequestUsed,
  noCredential,
  notAKey,
  revokedKey,
  unknownKey,
} from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 401, [
  [
    'a request without a credential',
    noCredential,
    messagesError('authentication_error', 'No API key was sent.'),
    { 'www-authenticate': 'Bearer realm="gatehouse"', 'x-should-retry': 'false' },
  ],
  [
    'a credential that is no key',
    notAKey,
    messagesError('authentication_error', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an unknown key',
    unknownKey,
    messagesError('authentication_error', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a revoked key',
    revokedKey,
    messagesError('authentication_error', 'The API key is invalid, expired or revoked.'),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an administrator key',
    administratorKey,
    messagesError(
      'authentication_error',
      'This is an administrator key (adm_…); this endpoint needs a project API key (ak_…).',
    ),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a second free request',
    freeRequestUsed,
    messagesError('authentication_error', 'The free request is used up. Sign up and send an API key to continue.'),
  ],
])
