import { unknownModel } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 404, [
  ['an unknown model', unknownModel, responsesError('model_not_found', 'There is no model nowhere.')],
])
