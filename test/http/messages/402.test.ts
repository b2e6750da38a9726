import { noCredits } from '../../support/inference-errors.ts'
import { describeStatus, messagesError } from '../../support/inference-status.ts'

describeStatus('messages', 402, [
  [
    'a request that costs more than the remaining credits',
    noCredits,
    messagesError('permission_error', 'This request may cost 59 credits; 0 are left.'),
    { 'x-should-retry': 'false' },
  ],
])
