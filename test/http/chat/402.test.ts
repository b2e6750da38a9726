import { noCredits } from '../../support/inference-errors.ts'
import { chatError, describeStatus } from '../../support/inference-status.ts'

describeStatus('chat', 402, [
  [
    'a request that costs more than the remaining credits',
    noCredits,
    chatError(
      'This request may cost 8201 credits; 1 is left. Add credits with gatehouse credits grant, or request fewer output tokens.',
      {
        type: 'billing_error',
        code: 'insufficient_credits',
      },
    ),
    { 'x-should-retry': 'false' },
  ],
])
