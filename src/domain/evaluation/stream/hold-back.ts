/** How much of a growing text must wait, and why. */
import { alwaysBlockedCategories, type Category } from '../../moderation/categories.ts'
import { closest } from '../../moderation/classifier.ts'
import type { Terms } from '../../moderation/terms.ts'
import type { Findings } from '../findings/findings.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from '../rules/plan.ts'

export type HoldBack = {
  /** A rule needs the whole block before any of it may leave. */
  readonly isWhole: boolean
  /** The longest that a match of a rule can be, in characters that count. */
  readonly reach: number
  /** The terms that may not be said; undefined where none are enforced. */
  readonly terms: Terms | undefined
  /** A rule asks for personal data, which must be settled before it may leave. */
  readonly personalData: boolean
  /** The policies that are asked while the text grows: those that can stop it, and need not see all of it. */
  readonly policies: Plan['policies']
  /** Close to one of these, nothing leaves until the text is calm again. */
  readonly blocking: ReadonlySet<Category>
}

/** In log-odds: a text this close to a block is not let out until it is calm again. */
const nearGap = -3

/** Whether what was found comes close to a block for one of these. */
export const isNearThreshold = ({ scores }: Findings, among: ReadonlySet<Category>): boolean =>
  closest({ scores }, among) > nearGap

/** What an answer under this plan must wait for. A request that was itself close to a block makes it wait as a whole. */
export const holdBackOf = (plan: Plan, isRequestTense: boolean): HoldBack =>
  isRequestTense ? nearThresholdHoldBack(plan) : cleanHoldBack(plan)

const cleanHoldBack = oncePerSharedPlan((plan) => createHoldBack(plan, false))
const nearThresholdHoldBack = oncePerSharedPlan((plan) => createHoldBack(plan, true))

function createHoldBack(plan: SharedPlan, isRequestTense: boolean): HoldBack {
  const { gateway, rollout, requested } = plan
  const { rules } = gateway.config
  const denied = rollout.isEnforced ? rules.denylist : []
  const flagged = rollout.isEnforced ? rules.flagged_categories : []
  const enforcing = plan.policies.response.filter(({ mode }) => mode === 'enforcing')
  const local = enforcing.flatMap((policy) =>
    policy.rule.reach === 'whole' ? [] : [{ policy, reach: policy.rule.reach }],
  )
  const isPattern = (term: string): boolean => term.startsWith('/')
  return {
    isWhole:
      isRequestTense ||
      local.length < enforcing.length ||
      denied.some(isPattern) ||
      (isRephrased(plan) && denied.length + flagged.length > 0),
    reach: Math.max(0, ...local.map(({ reach }) => reach.characters)),
    terms: denied.length > 0 ? gateway.terms : undefined,
    personalData: local.some(({ reach }) => reach.personalData),
    policies: { request: [], response: local.map(({ policy }) => policy) },
    blocking: new Set<Category>([...alwaysBlockedCategories, ...requested, ...flagged]),
  }
}

/** Whether a hit of the gateway's own rules is written anew, for which all of it must be there. */
function isRephrased({ gateway }: SharedPlan): boolean {
  const { rules, refusal_replacement: replacement } = gateway.config
  const pattern = rules.response_pattern ?? replacement.mode ?? 'refuse'
  return pattern === 'rewrite' || pattern === 'summary' || (pattern === 'refuse' && rules.rewrite_instead_of_refuse)
}
