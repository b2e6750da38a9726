import type { Decision } from '../audit/verdict.ts'
import type { RolloutMode } from '../gateway/rollout.ts'

/** What one check said about a text. */
export type Outcome = {
  readonly check: 'always_blocked' | 'requested' | 'gateway' | 'policy'
  readonly decision: Decision
  /** False in shadow and monitoring: recorded, and nothing was changed. */
  readonly isEnforced: boolean
  readonly rolloutMode: RolloutMode
  readonly reasonCode: string
  readonly policyId: string | null
  readonly version: number | null
  readonly triggeredCategories: readonly string[]
  readonly scoreBasisPoints?: number | undefined
}

/** What all checks together say: one decision, and what of it was done. */
export type Verdict = {
  readonly decision: Decision
  readonly effectiveDecision: Decision
  /** The outcome that decided; none where everything is allowed. */
  readonly deciding: Outcome | undefined
  readonly outcomes: readonly Outcome[]
}

/** Stronger ones outweigh weaker ones. What could not be judged outweighs an allowance, and is never one. */
const strength: Readonly<Record<Decision, number>> = {
  allow: 0,
  not_evaluated: 1,
  redact: 2,
  rewrite: 3,
  summary: 4,
  escalate: 5,
  refuse: 6,
}

/** The strongest enforced outcome is applied; where none is enforced, the strongest one is told of. */
export function combine(outcomes: readonly Outcome[]): Verdict {
  const enforced = strongestOf(outcomes.filter(({ isEnforced }) => isEnforced))
  const deciding = enforced ?? strongestOf(outcomes)
  return {
    decision: deciding?.decision ?? 'allow',
    effectiveDecision: enforced?.decision ?? 'allow',
    deciding,
    outcomes,
  }
}

/** The strongest of what is more than an allowance; the first of equals. */
function strongestOf(outcomes: readonly Outcome[]): Outcome | undefined {
  let strongest: Outcome | undefined
  for (const outcome of outcomes) {
    if (strength[outcome.decision] > strength[strongest?.decision ?? 'allow']) strongest = outcome
  }
  return strongest
}
