import { addressNotAllowed, modelNotAllowed, otherProject } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 403, [
  [
    'a model that the key may not use',
    modelNotAllowed,
    chatError('This key may not use the model gatehouse-echo.', {
      type: 'permission_error',
      code: 'model_not_allowed',
      param: 'model',
    }),
  ],
  [
    'a key from an address outside of its list',
    addressNotAllowed,
    chatError('This key may not be used from 127.0.0.1.', { type: 'permission_error', code: 'ip_not_allowed' }),
  ],
  [
    'a project that is not the key’s own',
    otherProject,
    chatError('X-Policy-Project names another project than the key’s own.', {
      type: 'permission_error',
      code: 'project_mismatch',
      param: 'X-Policy-Project',
    }),
  ],
])
