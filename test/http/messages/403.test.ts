import { addressNotAllowed, modelNotAllowed, otherProject } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 403, [
  [
    'a model that the key may not use',
    modelNotAllowed,
    messagesError('permission_error', 'This key may not use the model gatehouse-echo.'),
  ],
  [
    'a key from an address outside of its list',
    addressNotAllowed,
    messagesError('permission_error', 'This key may not be used from 127.0.0.1.'),
  ],
  [
    'a project that is not the key’s own',
    otherProject,
    messagesError('permission_error', 'X-Policy-Project names another project than the key’s own.'),
  ],
])
