import type { GatewayDecision } from '../../gateway-config/evaluate.ts'
import { reasonCodeOf } from '../../gateway-config/evaluate.ts'
import { alwaysBlockedCategories, type Category } from '../../moderation/categories.ts'
import type { RuleScore } from '../../policy/compiled-rule.ts'
import type { PolicyContent } from '../../policy/content.ts'
import type { Findings } from '../findings/findings.ts'
import type { CheckOutcome } from './outcome.ts'
import type { SharedPlan } from '../rules/plan.ts'
import type { ActivePolicy } from '../rules/rulebook.ts'

/** The score from which a rule matches. */
export const thresholdOf = ({ matchThresholdBasisPoints }: Pick<PolicyContent, 'matchThresholdBasisPoints'>): number =>
  matchThresholdBasisPoints ?? 5_000

/** What no configuration can switch off, and what the caller itself asked to have blocked. */
export function moderationOutcomes({ gateway, requested }: SharedPlan, findings: Findings): readonly CheckOutcome[] {
  const { categories: found, scores } = findings
  const outcomeOf = (check: CheckOutcome['check'], names: readonly Category[]): readonly CheckOutcome[] => {
    const triggeredCategories = names.filter((name) => found.includes(name))
    if (triggeredCategories.length === 0) return []
    return [
      {
        check,
        decision: 'refuse',
        effect: 'refuse',
        isEnforced: true,
        rolloutMode: 'enforced',
        reasonCode: reasonCodeOf(gateway.config, 'refuse'),
        policyId: gateway.config.policy_id,
        version: gateway.version,
        triggeredCategories,
        scoreBasisPoints: Math.round(Math.max(...triggeredCategories.map((name) => scores[name])) * 10_000),
      },
    ]
  }
  return [...outcomeOf('always_blocked', alwaysBlockedCategories), ...outcomeOf('requested', requested)]
}

export function gatewayOutcome({ gateway, rollout }: SharedPlan, decided: GatewayDecision): CheckOutcome {
  return {
    check: 'gateway',
    decision: decided.decision,
    effect: decided.decision,
    isEnforced: rollout.isEnforced,
    rolloutMode: rollout.mode,
    reasonCode: decided.reasonCode,
    policyId: gateway.config.policy_id,
    version: gateway.version,
    triggeredCategories: decided.triggeredCategories,
  }
}

export type PolicyRules = {
  readonly plan: SharedPlan
  /** A rule that should have been judged and was not lets the text pass. */
  readonly failsOpen: boolean
}

/** What a policy said about some texts: one that matches is enough, one that could not be judged is never a pass. */
export function policyOutcome(
  policy: ActivePolicy,
  scores: readonly RuleScore[],
  { plan, failsOpen }: PolicyRules,
): CheckOutcome {
  let best = -1
  let isUnjudged = false
  let isFailure = false
  for (const score of scores) {
    if ('basisPoints' in score) {
      best = Math.max(best, score.basisPoints)
    } else {
      isUnjudged = true
      isFailure ||= score.isFailure
    }
  }
  const isMatch = best >= thresholdOf(policy)
  const decision = isMatch ? 'refuse' : isUnjudged ? 'not_evaluated' : 'allow'
  const effect = isMatch || (isFailure && !failsOpen) ? 'refuse' : 'allow'
  const isEnforced = policy.mode === 'enforcing'
  return {
    check: 'policy',
    decision,
    effect,
    isEnforced,
    rolloutMode: isEnforced ? 'enforced' : 'shadow',
    reasonCode: decision === 'not_evaluated' ? 'NOT_EVALUATED' : reasonCodeOf(plan.gateway.config, decision),
    policyId: policy.id,
    version: policy.version,
    triggeredCategories: [],
    scoreBasisPoints: best >= 0 ? best : undefined,
  }
}
