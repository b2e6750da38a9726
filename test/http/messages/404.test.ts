import { unknownModel } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 404, [
  ['an unknown model', unknownModel, messagesError('not_found_error', 'There is no model nowhere.')],
])
