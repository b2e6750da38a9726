import { Fault, isFault, type FaultCode } from '../../base/fault.ts'
import type { Evaluate } from '../../domain/evaluation/evaluate.ts'
import type { Plan } from '../../domain/evaluation/plan.ts'
import { stringsIn } from '../../domain/evaluation/texts/text-fields.ts'
import { isDenied, type Verdict } from '../../domain/evaluation/verdict/combine.ts'
import { isRephrasing } from '../../domain/evaluation/verdict/rephrase.ts'
import { findPersonalData } from '../../domain/scan/detect/personal-data/find.ts'
import { isRedacting } from './rewrite-request.ts'

/** Error codes whose message is the upstream's own, and the text that replaces it. */
const replacements: ReadonlyMap<FaultCode, string> = new Map([
  [
    'upstream_rejected',
    'The model’s upstream rejected the request. Its message is withheld because a rule forbids it.',
  ],
  // Agents compact a conversation when a message starts with these words.
  ['context_length_exceeded', 'prompt is too long. The upstream’s message is withheld because a rule forbids it.'],
])

export type UpstreamErrorParts = {
  readonly evaluate: Evaluate
  readonly plan: Plan
  /** Called with a verdict other than `allow`. */
  readonly onVerdict: (verdict: Verdict) => void
}

/**
 * Replaces the message of an upstream's error, and removes its details, if the same text would be denied in a response, or
 * if it contains personal data that the plan redacts in responses. Other errors stay as they are.
 */
export async function scanUpstreamError(
  error: unknown,
  { evaluate, plan, onVerdict }: UpstreamErrorParts,
): Promise<unknown> {
  const replacement = isFault(error) ? replacements.get(error.code) : undefined
  if (!isFault(error) || replacement === undefined) return error
  const { vendorDetails, ...details } = error.details
  const texts = [error.message, ...stringsIn(vendorDetails)]
  const { verdict } = await evaluate(plan, { texts, direction: 'response' })
  if (verdict.decision !== 'allow') onVerdict(verdict)
  const isWithheld =
    isDenied(verdict) ||
    isRephrasing(verdict.effectiveDecision) ||
    (isRedacting(plan) && texts.some((text) => findPersonalData(text).length > 0))
  return isWithheld ? new Fault(error.kind, error.code, replacement, details) : error
}
