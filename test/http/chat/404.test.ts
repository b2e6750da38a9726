import { unknownModel } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 404, [
  [
    'an unknown model',
    unknownModel,
    chatError('There is no model nowhere.', { type: 'invalid_request_error', code: 'model_not_found', param: 'model' }),
  ],
])
