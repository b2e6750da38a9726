import { addressNotAllowed, modelNotAllowed, otherProject } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 403, [
  [
    'a model that the key may not use',
    modelNotAllowed,
    responsesError('model_not_allowed', 'This key may not use the model gatehouse-echo.'),
  ],
  [
    'a key from an address outside of its list',
    addressNotAllowed,
    responsesError('ip_not_allowed', 'This key may not be used from 127.0.0.1.'),
  ],
  [
    'a project that is not the key’s own',
    otherProject,
    responsesError('project_mismatch', 'X-Policy-Project names another project than the key’s own.'),
  ],
])
