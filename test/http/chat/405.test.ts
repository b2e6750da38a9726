import { otherMethod } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 405, [
  [
    'GET',
    otherMethod('GET'),
    chatError('GET is not allowed for this path; use POST.', {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    }),
    { allow: 'POST' },
  ],
  [
    'PUT',
    otherMethod('PUT'),
    chatError('PUT is not allowed for this path; use POST.', {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    }),
    { allow: 'POST' },
  ],
  [
    'DELETE',
    otherMethod('DELETE'),
    chatError('DELETE is not allowed for this path; use POST.', {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    }),
    { allow: 'POST' },
  ],
  [
    'OPTIONS',
    otherMethod('OPTIONS'),
    chatError('OPTIONS is not allowed for this path; use POST.', {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    }),
    { allow: 'POST' },
  ],
  [
    'PURGE',
    otherMethod('PURGE'),
    chatError('PURGE is not allowed for this path; use POST.', {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    }),
    { allow: 'POST' },
  ],
])
