import type { AppealClaim, AppealOutcome } from './appeal.ts'
import type { SureAnswer } from './label.ts'

/** What an agreed answer means for a claim. */
export function outcomeOf(claim: AppealClaim, answer: SureAnswer): Exclude<AppealOutcome, 'dismissed'> {
  const claimed = claim === 'should_be_denied' ? 'match' : 'no_match'
  return answer === claimed ? 'overturned' : 'upheld'
}
