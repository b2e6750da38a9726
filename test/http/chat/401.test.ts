import {
  administratorKey,
  freeRequestUsed,
  noCredential,
  notAKey,
  revokedKey,
  unknownKey,
} from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 401, [
  [
    'a request without a credential',
    noCredential,
    chatError('No API key was sent.', { type: 'authentication_error', code: 'invalid_api_key' }),
    { 'www-authenticate': 'Bearer realm="gatehouse"', 'x-should-retry': 'false' },
  ],
  [
    'a credential that is no key',
    notAKey,
    chatError('The API key is invalid, expired or revoked.', { type: 'authentication_error', code: 'invalid_api_key' }),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an unknown key',
    unknownKey,
    chatError('The API key is invalid, expired or revoked.', { type: 'authentication_error', code: 'invalid_api_key' }),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a revoked key',
    revokedKey,
    chatError('The API key is invalid, expired or revoked.', { type: 'authentication_error', code: 'invalid_api_key' }),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'an administrator key',
    administratorKey,
    chatError('This is an administrator key (adm_…); this endpoint needs a project API key (ak_…).', {
      type: 'authentication_error',
      code: 'invalid_api_key',
    }),
    { 'www-authenticate': 'Bearer realm="gatehouse", error="invalid_token"' },
  ],
  [
    'a second free request',
    freeRequestUsed,
    chatError('The free request is used up. Sign up and send an API key to continue.', {
      type: 'authentication_error',
      code: 'free_request_used',
    }),
  ],
])
