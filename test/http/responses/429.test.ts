import { authenticationFailures, requestsPerMinute, tokensPerMinute } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('responses', 429, [
  [
    'more requests a minute than the limit',
    requestsPerMinute,
    chatError('This API key may have 1 request a minute. Retry in N seconds.', {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    }),
    { 'x-ratelimit-limit-requests': '1', 'x-ratelimit-remaining-requests': '0' },
  ],
  [
    'a request with more tokens than the limit',
    tokensPerMinute,
    chatError('This API key may have 10 tokens a minute. This request needs more.', {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    }),
    { 'x-ratelimit-limit-tokens': '10', 'x-should-retry': 'false' },
  ],
  [
    'an invalid key after too many others from the same address',
    authenticationFailures,
    chatError('The API key is invalid, expired or revoked. Too many failed authentications came from this address.', {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    }),
    { 'retry-after': '60' },
  ],
])
