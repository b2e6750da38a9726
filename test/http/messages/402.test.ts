import { noCredits } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 402, [
  [
    'a request that costs more than the remaining credits',
    noCredits,
    messagesError(
      'permission_error',
      'This request may cost 59 credits; 1 is left. Add credits with gatehouse credits grant, or request fewer output tokens.',
    ),
    { 'x-should-retry': 'false' },
  ],
])
