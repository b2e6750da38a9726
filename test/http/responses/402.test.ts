import { noCredits } from '../../support/inference-errors.ts'
import { describeStatus, responsesError } from '../../support/inference-status.ts'

describeStatus('responses', 402, [
  [
    'a request that costs more than the remaining credits',
    noCredits,
    responsesError('insufficient_credits', 'This request may cost 8201 credits; 0 are left.'),
    { 'x-should-retry': 'false' },
  ],
])
