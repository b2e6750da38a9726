import { authenticationFailures, requestsPerMinute, tokensPerMinute } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 429, [
  [
    'more requests a minute than the limit',
    requestsPerMinute,
    messagesError('rate_limit_error', 'This API key may have 1 request a minute. Retry in N seconds.'),
    { 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' },
  ],
  [
    'a request with more tokens than the limit',
    tokensPerMinute,
    messagesError('rate_limit_error', 'This API key may have 10 tokens a minute. This request needs more.'),
    { 'x-ratelimit-limit-tokens': '10', 'x-should-retry': 'false' },
  ],
  [
    'an invalid key after too many others from the same address',
    authenticationFailures,
    messagesError(
      'rate_limit_error',
      'The API key is invalid, expired or revoked. Too many failed authentications came from this address.',
    ),
    { 'retry-after': '60' },
  ],
])
