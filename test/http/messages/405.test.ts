import { otherMethod } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 405, [
  [
    'GET',
    otherMethod('GET'),
    messagesError('invalid_request_error', 'GET is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'PUT',
    otherMethod('PUT'),
    messagesError('invalid_request_error', 'PUT is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'DELETE',
    otherMethod('DELETE'),
    messagesError('invalid_request_error', 'DELETE is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'OPTIONS',
    otherMethod('OPTIONS'),
    messagesError('invalid_request_error', 'OPTIONS is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'PURGE',
    otherMethod('PURGE'),
    messagesError('invalid_request_error', 'PURGE is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
])
