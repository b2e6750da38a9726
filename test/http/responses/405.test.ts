import { otherMethod } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 405, [
  [
    'GET',
    otherMethod('GET'),
    responsesError('method_not_allowed', 'GET is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'PUT',
    otherMethod('PUT'),
    responsesError('method_not_allowed', 'PUT is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'DELETE',
    otherMethod('DELETE'),
    responsesError('method_not_allowed', 'DELETE is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'OPTIONS',
    otherMethod('OPTIONS'),
    responsesError('method_not_allowed', 'OPTIONS is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
  [
    'PURGE',
    otherMethod('PURGE'),
    responsesError('method_not_allowed', 'PURGE is not allowed for this path; use POST.'),
    { allow: 'POST' },
  ],
])
