import { Fault, isFault, type FaultCode } from '../../base/fault.ts'
import type { Evaluate } from '../../domain/evaluation/findings/evaluate.ts'
import type { Plan } from '../../domain/evaluation/rules/plan.ts'
import { isDenied, type Verdict } from '../../domain/evaluation/verdict/outcome.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import { findPersonalData } from '../../domain/moderation/personal-data/find.ts'
import { isRedacting } from './rewrite-request.ts'

/** Errors whose message is the upstream's own, and what the caller reads in its place. */
const replacements: ReadonlyMap<FaultCode, string> = new Map([
  [
    'upstream_rejected',
    'The model’s upstream rejected the request. Its message is withheld because a rule forbids it.',
  ],
  // Agents compact a conversation when they read the first words.
  ['context_length_exceeded', 'prompt is too long. The upstream’s message is withheld because a rule forbids it.'],
])

export type UpstreamErrorParts = {
  readonly examine: Evaluate
  readonly plan: Plan
  /** Called with the verdict on a message that is more than allowed. */
  readonly onVerdict: (verdict: Verdict) => void
}

/**
 * Replaces the message of an upstream's error where the same text would be denied in an answer, or where it has personal
 * data that the plan takes out of answers. Other errors stay as they are.
 */
export async function scanUpstreamError(
  error: unknown,
  { examine, plan, onVerdict }: UpstreamErrorParts,
): Promise<unknown> {
  const replacement = isFault(error) ? replacements.get(error.code) : undefined
  if (!isFault(error) || replacement === undefined) return error
  const { verdict } = await examine(plan, { texts: [error.message], direction: 'response' })
  if (verdict.decision !== 'allow') onVerdict(verdict)
  const isWithheld =
    isDenied(verdict) ||
    isRephrasing(verdict.effectiveDecision) ||
    (isRedacting(plan) && findPersonalData(error.message).length > 0)
  return isWithheld ? new Fault(error.kind, error.code, replacement, error.details) : error
}
