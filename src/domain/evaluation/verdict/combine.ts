import type { AuditDecision } from '../../audit/event/verdict.ts'
import type { RolloutMode } from '../../gateway-config/rollout.ts'

/** In the order of evaluation. If two checks decide the same, the first is the deciding one. */
export const checks = ['always_blocked', 'requested', 'gateway', 'policy'] as const

/** The result of evaluating one rule: a moderation category, the gateway configuration or one policy. */
export type Decision = {
  readonly check: (typeof checks)[number]
  readonly decision: AuditDecision
  /** What happens if the decision is enforced. Differs from `decision` only if the rule could not be evaluated. */
  readonly effect: Exclude<AuditDecision, 'not_evaluated'>
  /** False in shadow and monitoring mode: the decision is audited and changes nothing. */
  readonly isEnforced: boolean
  readonly rolloutMode: RolloutMode
  readonly reasonCode: string
  readonly policyId: string | null
  readonly version: number | null
  readonly triggeredCategories: readonly string[]
  readonly scoreBasisPoints?: number | undefined
  /** Why the rule could not be evaluated on at least one text. */
  readonly notEvaluated?: string | undefined
}

/** All decisions combined into one: what was decided, and what of it takes effect. */
export type Verdict = {
  readonly decision: AuditDecision
  readonly effectiveDecision: Decision['effect']
  /** The strongest decision; undefined if everything is allowed. */
  readonly deciding: Decision | undefined
  readonly decisions: readonly Decision[]
}

/** Stronger decisions win. `not_evaluated` is stronger than `allow`, because an unevaluated rule is never a pass. */
const strength: Readonly<Record<AuditDecision, number>> = {
  allow: 0,
  not_evaluated: 1,
  redact: 2,
  rewrite: 3,
  summary: 4,
  escalate: 5,
  refuse: 6,
}

/** The strongest enforced effect is applied. If nothing is enforced, the strongest decision is reported. */
export function combine(decisions: readonly Decision[]): Verdict {
  const applied = strongest(decisions, ({ isEnforced, effect }) => (isEnforced ? effect : 'allow'))
  const deciding = applied ?? strongest(decisions, ({ decision }) => decision)
  return { decision: deciding?.decision ?? 'allow', effectiveDecision: applied?.effect ?? 'allow', deciding, decisions }
}

/** The strongest decision above `allow`; the first of equals. */
function strongest(decisions: readonly Decision[], weigh: (decision: Decision) => AuditDecision): Decision | undefined {
  let winner: Decision | undefined
  let highest = strength.allow
  for (const candidate of decisions) {
    const weight = strength[weigh(candidate)]
    if (weight <= highest) continue
    highest = weight
    winner = candidate
  }
  return winner
}

/** Merges the decisions of several verdicts on one response: the strongest of each check and policy. */
export function mergeDecisions(decisions: readonly Decision[]): readonly Decision[] {
  const merged = new Map<string | null, Decision>()
  for (const one of decisions) {
    const key = one.check === 'policy' ? one.policyId : one.check
    const known = merged.get(key)
    if (known === undefined || strength[one.decision] > strength[known.decision]) merged.set(key, one)
  }
  const distinct = [...merged.values()]
  return checks.flatMap((check) => distinct.filter((one) => one.check === check))
}

/** True if the text must not be sent, neither to the model nor to the caller. */
export const isDenied = ({ effectiveDecision }: Verdict): boolean =>
  effectiveDecision === 'refuse' || effectiveDecision === 'escalate'

/** Turns a verdict that cannot be carried out, such as a failed rewrite, into a denial by the same rule. */
export const denialOf = ({ deciding }: Verdict): readonly Decision[] =>
  deciding === undefined ? [] : [{ ...deciding, decision: 'refuse', effect: 'refuse', reasonCode: 'REFUSE' }]
