/** Turns findings and scores into one decision per rule. */
import type { GatewayDecision } from '../../gateway-config/evaluate.ts'
import { reasonCodeOf } from '../../gateway-config/evaluate.ts'
import { alwaysBlockedCategories, type Category } from '../../scan/classify/categories.ts'
import { injectionThreshold } from '../../scan/injection/injection-detector.ts'
import { injectionPlaces, promptInjection } from '../../scan/injection/places.ts'
import type { RuleScore } from '../../policy/rule-score.ts'
import { thresholdOf } from '../../policy/content.ts'
import type { Findings } from '../findings.ts'
import type { Decision } from './combine.ts'
import type { SharedPlan } from '../plan.ts'
import type { ActivePolicy } from '../rulebook.ts'

/** Categories that are always blocked, and those that the request lists. No configuration can turn these off. */
export function moderationDecisions({ gateway, requested }: SharedPlan, findings: Findings): readonly Decision[] {
  const { categories, scores } = findings
  const decisionOf = (check: Decision['check'], names: readonly Category[]): readonly Decision[] => {
    const triggeredCategories = names.filter((name) => categories.includes(name))
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
  return [...decisionOf('always_blocked', alwaysBlockedCategories), ...decisionOf('requested', requested)]
}

/** The decision of a check of categories that found none of them. A verdict leaves it out. */
export const moderationAllowance = (
  { gateway }: SharedPlan,
  check: Decision['check'],
  highestScore: number,
): Decision => ({
  check,
  decision: 'allow',
  effect: 'allow',
  isEnforced: true,
  rolloutMode: 'enforced',
  reasonCode: reasonCodeOf(gateway.config, 'allow'),
  policyId: gateway.config.policy_id,
  version: gateway.version,
  triggeredCategories: [],
  scoreBasisPoints: Math.round(highestScore * 10_000),
})

export function gatewayDecision({ gateway, rollout }: SharedPlan, evaluated: GatewayDecision): Decision {
  return {
    check: 'gateway',
    decision: evaluated.decision,
    effect: evaluated.decision,
    isEnforced: rollout.isEnforced,
    rolloutMode: rollout.mode,
    reasonCode: evaluated.reasonCode,
    policyId: gateway.config.policy_id,
    version: gateway.version,
    triggeredCategories: evaluated.triggeredCategories,
    matched: evaluated.matched,
  }
}

/**
 * The decision on prompt injections; none if nothing was found. It is enforced if one was found in a place that the configuration
 * blocks, and the configuration itself is enforced.
 */
export function injectionDecisions({ gateway, rollout }: SharedPlan, { injections }: Findings): readonly Decision[] {
  const { config, version } = gateway
  const modes = config.rules.prompt_injection
  const found = injectionPlaces.filter((place) => injections[place] !== undefined)
  if (found.length === 0) return []
  const blocked = found.filter((place) => modes[place] === 'block')
  const places = blocked.length > 0 ? blocked : found
  return [
    {
      check: 'prompt_injection',
      decision: 'refuse',
      effect: 'refuse',
      isEnforced: blocked.length > 0 && rollout.isEnforced,
      rolloutMode: blocked.length > 0 ? rollout.mode : 'shadow',
      reasonCode: reasonCodeOf(config, 'refuse'),
      policyId: config.policy_id,
      version,
      triggeredCategories: [promptInjection],
      scoreBasisPoints: Math.round(Math.max(...places.map((place) => injections[place] ?? 0)) * 10_000),
      thresholdBasisPoints: injectionThreshold * 10_000,
      places,
    },
  ]
}

type PolicyScores = { readonly scores: readonly (readonly RuleScore[])[]; readonly at: number }

export type PolicyRules = {
  readonly plan: SharedPlan
  /** Whether a text passes if the rule could not be evaluated because of a failure. */
  readonly failsOpen: boolean
}

/**
 * The decision of one policy on several texts. `scores` lists, per text, the scores of all policies, of which `at` is the
 * policy's own. One match is enough; a text that could not be evaluated is never a pass.
 */
export function policyDecision(
  policy: ActivePolicy,
  { scores, at }: PolicyScores,
  { plan, failsOpen }: PolicyRules,
): Decision {
  let best = -1
  let notEvaluated: string | undefined
  let isFailure = false
  let isSkipped = scores.length > 0
  for (const ofText of scores) {
    const score = ofText[at]
    if (score === undefined) continue
    if ('basisPoints' in score) {
      best = Math.max(best, score.basisPoints)
      isSkipped &&= score.isSkipped === true
    } else {
      isSkipped = false
      best = Math.max(best, score.partBasisPoints ?? -1)
      notEvaluated ??= score.notEvaluated
      isFailure ||= score.isFailure
    }
  }
  const thresholdBasisPoints = thresholdOf(policy)
  const isMatch = best >= thresholdBasisPoints
  const decision = isMatch ? 'refuse' : notEvaluated === undefined ? 'allow' : 'not_evaluated'
  const effect = isMatch || (isFailure && !(policy.rule.failsOpen ?? failsOpen)) ? 'refuse' : 'allow'
  const isEnforced = policy.mode === 'enforcing'
  return {
    check: 'policy',
    decision,
    effect,
    isEnforced,
    rolloutMode: policy.rollout !== undefined ? 'canary' : isEnforced ? 'enforced' : 'shadow',
    reasonCode: decision === 'not_evaluated' ? 'NOT_EVALUATED' : reasonCodeOf(plan.gateway.config, decision),
    policyId: policy.id,
    version: policy.version,
    triggeredCategories: [],
    scoreBasisPoints: best >= 0 ? best : undefined,
    thresholdBasisPoints,
    notEvaluated,
    exceptionId: effect === 'allow' ? undefined : exceptionOf(policy),
    rollout: policy.rollout,
    ...(isSkipped && skippedJudge),
  }
}

const skippedJudge = { judge: 'skipped' } as const

const exceptionOf = ({ exception }: ActivePolicy): string | undefined =>
  exception !== undefined && 'id' in exception ? exception.id : undefined

/** The decision as an exception leaves it: recorded, and not enforced. */
export const excepted = (decision: Decision, exceptionId: string): Decision => ({
  ...decision,
  isEnforced: false,
  rolloutMode: 'shadow',
  exceptionId,
})
