import { checks, type AuditDecision, type Check, type GatewayMatch } from '../../audit/event/verdict.ts'
import type { InjectionPlace } from '../../scan/injection/places.ts'
import type { RolloutMode } from '../../gateway-config/rollout.ts'

/** The result of evaluating one rule: a moderation category, the gateway configuration, its search for prompt injections or one policy. */
export type Decision = {
  readonly check: Check
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
  /** The score from which a policy matches. */
  readonly thresholdBasisPoints?: number | undefined
  /** What the gateway configuration acted on. */
  readonly matched?: GatewayMatch | undefined
  /** Where prompt injections were found. */
  readonly places?: readonly InjectionPlace[] | undefined
  /** Why the rule could not be evaluated on at least one text. */
  readonly notEvaluated?: string | undefined
  /** The exception because of which a policy that decides against the text is not enforced. */
  readonly exceptionId?: string | undefined
  /** The guard of the policy kept all texts from its judge. */
  readonly judge?: 'skipped' | undefined
  /** The side of the request in the rollout of a policy. */
  readonly rollout?: { readonly percent: number; readonly side: 'enforced' | 'observed' } | undefined
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

/** The verdict with further decisions: the strongest of each check and policy. The same verdict if they change nothing. */
export function withDecisions(verdict: Verdict, further: readonly Decision[]): Verdict {
  const merged = mergeDecisions(verdict.decisions, further)
  return merged === verdict.decisions ? verdict : combine(merged)
}

/**
 * Merges further decisions into a list with one decision per rule, in the order of the checks and policies. Mostly they are weaker
 * decisions of the same rules in the same order. Then the list is returned as it is, and no rule is searched for.
 */
export function mergeDecisions(decisions: readonly Decision[], further: readonly Decision[]): readonly Decision[] {
  let merged: Decision[] | undefined
  let positions: Map<string | null, number> | undefined
  let expectedAt = 0
  for (const one of further) {
    let list = merged ?? decisions
    const expected = list[expectedAt]
    const isExpected = expected !== undefined && ruleOf(expected) === ruleOf(one)
    if (!isExpected) positions ??= new Map(list.map((decision, at) => [ruleOf(decision), at]))
    const at = isExpected ? expectedAt : (positions?.get(ruleOf(one)) ?? list.length)
    expectedAt = at + 1
    const known = list[at]
    if (known !== undefined && strength[one.decision] <= strength[known.decision]) continue
    list = merged ??= [...decisions]
    merged[at] = one
    positions?.set(ruleOf(one), at)
  }
  return merged === undefined ? decisions : merged.toSorted(byCheck)
}

/** Identifies the rule of a decision: the id of a policy, or the name of another check. */
const ruleOf = ({ check, policyId }: Decision): string | null => (check === 'policy' ? policyId : check)

/** Policies in the order of a plan, which is that of their ids: a policy for answers only may be older than one for requests, too. */
function byCheck(one: Decision, other: Decision): number {
  if (one.check !== other.check) return checks.indexOf(one.check) - checks.indexOf(other.check)
  return (one.policyId ?? '') < (other.policyId ?? '') ? -1 : 1
}

/** True if the text must not be sent, neither to the model nor to the caller. */
export const isDenied = ({ effectiveDecision }: Verdict): boolean =>
  effectiveDecision === 'refuse' || effectiveDecision === 'escalate'

/** Turns a verdict that cannot be carried out, such as a failed rewrite, into a denial by the same rule. */
export const denialOf = ({ deciding }: Verdict): readonly Decision[] =>
  deciding === undefined ? [] : [{ ...deciding, decision: 'refuse', effect: 'refuse', reasonCode: 'REFUSE' }]
