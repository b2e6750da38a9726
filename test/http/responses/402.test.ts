import { noCredits } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 402, [
  [
    'a request that costs more than the remaining credits',
    noCredits,
    responsesError(
      'insufficient_credits',
      'This request may cost 8201 credits; 1 is left. Add credits with gatehouse credits grant, or request fewer output tokens.',
    ),
    { 'x-should-retry': 'false' },
  ],
])
