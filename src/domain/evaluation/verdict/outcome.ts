import type { AuditDecision } from '../../audit/event/verdict.ts'
import type { RolloutMode } from '../../gateway-config/rollout.ts'

/** In the order in which they are made: of two that say the same, the first decides. */
const checks = ['always_blocked', 'requested', 'gateway', 'policy'] as const

/** What one check said about a text. */
export type CheckOutcome = {
  readonly check: (typeof checks)[number]
  readonly decision: AuditDecision
  /** What is done where the outcome is enforced: the decision, or what a rule that could not be judged leads to. */
  readonly effect: Exclude<AuditDecision, 'not_evaluated'>
  /** False in shadow and monitoring: recorded, and nothing was changed. */
  readonly isEnforced: boolean
  readonly rolloutMode: RolloutMode
  readonly reasonCode: string
  readonly policyId: string | null
  readonly version: number | null
  readonly triggeredCategories: readonly string[]
  readonly scoreBasisPoints?: number | undefined
}

/** What all checks together say: one decision, and what of it is done. */
export type Verdict = {
  readonly decision: AuditDecision
  readonly effectiveDecision: CheckOutcome['effect']
  /** The outcome that decided; none where everything is allowed. */
  readonly deciding: CheckOutcome | undefined
  readonly outcomes: readonly CheckOutcome[]
}

/** Stronger ones outweigh weaker ones. What could not be judged outweighs an allowance, and is never one. */
const strength: Readonly<Record<AuditDecision, number>> = {
  allow: 0,
  not_evaluated: 1,
  redact: 2,
  rewrite: 3,
  summary: 4,
  escalate: 5,
  refuse: 6,
}

/** The strongest enforced effect is applied; where there is none, the strongest decision is told of. */
export function combine(outcomes: readonly CheckOutcome[]): Verdict {
  const applied = strongest(outcomes, (outcome) => (outcome.isEnforced ? outcome.effect : 'allow'))
  const deciding = applied ?? strongest(outcomes, ({ decision }) => decision)
  return { decision: deciding?.decision ?? 'allow', effectiveDecision: applied?.effect ?? 'allow', deciding, outcomes }
}

/** The strongest of what is more than an allowance; the first of equals. */
function strongest(
  outcomes: readonly CheckOutcome[],
  weigh: (outcome: CheckOutcome) => AuditDecision,
): CheckOutcome | undefined {
  let found: CheckOutcome | undefined
  let most = strength.allow
  for (const outcome of outcomes) {
    const weight = strength[weigh(outcome)]
    if (weight <= most) continue
    most = weight
    found = outcome
  }
  return found
}

/** What several verdicts on one answer say together: of each check and policy, the strongest outcome. */
export function mergeOutcomes(outcomes: readonly CheckOutcome[]): readonly CheckOutcome[] {
  const merged = new Map<string | null, CheckOutcome>()
  for (const outcome of outcomes) {
    const key = outcome.check === 'policy' ? outcome.policyId : outcome.check
    const known = merged.get(key)
    if (known === undefined || strength[outcome.decision] > strength[known.decision]) merged.set(key, outcome)
  }
  return [...merged.values()].sort((first, second) => checks.indexOf(first.check) - checks.indexOf(second.check))
}

/** Nothing leaves after one of these. */
export const isDenied = ({ effectiveDecision }: Verdict): boolean =>
  effectiveDecision === 'refuse' || effectiveDecision === 'escalate'

/** What becomes of a verdict that cannot be carried out: the text is refused for the same reason. */
export const denialOf = ({ deciding }: Verdict): readonly CheckOutcome[] =>
  deciding === undefined ? [] : [{ ...deciding, decision: 'refuse', effect: 'refuse', reasonCode: 'REFUSE' }]
